import numpy as np
import pytest
from sklearn.base import clone
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from sparsieve import LaplacianScoreSelector, permutation_null


def plain_scores(X, n_neighbors, width):
    """The definition, one pair of samples at a time."""
    n, d = X.shape
    distance = np.array([[((a - b) ** 2).sum() for b in X] for a in X])
    S = np.zeros((n, n))
    for i in range(n):
        others = sorted((j for j in range(n) if j != i), key=lambda j: distance[i, j])
        for j in others[:n_neighbors]:
            S[i, j] = S[j, i] = np.exp(-distance[i, j] / width)
    D = S.sum(axis=1)
    scores = []
    for j in range(d):
        f = X[:, j] - (D @ X[:, j]) / D.sum()
        rough = sum(S[a, b] * (f[a] - f[b]) ** 2 for a in range(n) for b in range(n)) / 2
        scores.append(1 - rough / (D @ f**2))
    return np.array(scores)


def test_is_the_published_score(rng):
    X = rng.standard_normal((25, 6)) * [1, 2, 0.5, 1, 3, 1] + 5
    fitted = LaplacianScoreSelector(n_neighbors=4, width=7.0, standardize=False).fit(X)
    np.testing.assert_allclose(fitted.scores_, plain_scores(X, 4, 7.0), atol=1e-10)


def test_noise_scores_as_documented_and_clusters_do_not(rng):
    for n_features, mean in ((20, 0.39), (200, 0.11), (2000, 0.02)):
        X = rng.standard_normal((120, n_features))
        assert LaplacianScoreSelector().fit(X).scores_.mean() == pytest.approx(mean, abs=0.02)
    X = rng.standard_normal((120, 200))
    X[:, :10] += 4.0 * rng.integers(0, 2, 120)[:, None]
    fitted = LaplacianScoreSelector().fit(X)
    assert fitted.support_[:10].all()
    assert fitted.scores_[:10].min() > 0.5
    assert fitted.scores_[10:].max() < 0.4


def test_needs_no_target_and_ignores_one(rng):
    X = rng.standard_normal((30, 8))
    selector = LaplacianScoreSelector(3)
    alone = clone(selector).fit(X)
    for y in (np.arange(30) % 2, ["anything", None], "text"):
        np.testing.assert_array_equal(clone(selector).fit(X, y).scores_, alone.scores_)
    assert not hasattr(alone, "classes_")
    assert make_pipeline(StandardScaler(), selector).fit_transform(X).shape == (30, 3)
    assert alone.to_frame()["rank"].tolist() == [1, 2, 3]
    assert not alone.__sklearn_tags__().target_tags.required
    with pytest.raises(ValueError, match="does not use the target"):
        permutation_null(selector, X, np.arange(30) % 2)


@pytest.mark.parametrize("n_samples", [2, 3])
def test_few_samples_have_few_neighbours(n_samples, rng):
    fitted = LaplacianScoreSelector(n_neighbors=50).fit(rng.standard_normal((n_samples, 4)))
    assert np.isfinite(fitted.scores_).all()
