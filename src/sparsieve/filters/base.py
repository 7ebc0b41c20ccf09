"""What filters share."""

# A filter has no opinion on how many features to keep; when nobody asks, it keeps as many as
# scikit-learn's SelectKBest.
DEFAULT_COUNT = 10
