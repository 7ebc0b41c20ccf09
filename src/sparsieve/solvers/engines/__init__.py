"""What several families share: DC programming, cone programs, conjugate gradients."""
