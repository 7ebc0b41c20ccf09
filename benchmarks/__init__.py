"""Speed and quality against the peers; `make bench` runs them all."""
