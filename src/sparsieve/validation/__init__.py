"""The way of X, y and the weights from a user's hands to a model, one stage after the other.

Everybody who takes data (selectors, meta-estimators, ``select``, ``compare``, ``diagnose``) goes
through these stages, so that the same mistake gets the same sentence everywhere, and an error about
the input always comes from here. The stages, in the order in which they run:

1. ``containers``: What is X? Lists, tensors, masked arrays and data frames become arrays or sparse
   matrices; what is no table of numbers is refused with what to do about it. ``dataframes`` asks
   data frames of any library which columns are no numbers.
2. ``columns``: Does X stay where it is, in a file, on a cluster or on a GPU? Then it becomes a
   design that is read in passes, provided that the estimator can work with one.
3. ``containers`` again: Are all values finite, is a sparse matrix undamaged and has one entry per
   place, are there enough samples? Here scikit-learn counts the features and notes their names.
4. ``training_data``: Which samples count? Those of weight zero are left out, so that they have no
   say in anything that follows.
5. ``containers`` again: Are their squares numbers? Columns of extreme size change their unit by
   a power of two where the model does not notice, and are refused elsewhere.
6. ``target``: What is y? Class labels, an indicator matrix or quantities, encoded as the matrix Y
   that models regress on, or survival times with events (``survival``).
7. ``training_data`` again: How much does every sample count, with ``class_weight`` multiplied in?
8. ``columns``: Which columns are always or never kept, by index, name or mask?

``training_data`` runs all of them for ``fit``, and ``transform_data`` runs 1 to 3 for ``transform``
and ``predict``. What an estimator can take is written on its class, see ``Capabilities``: whoever
adds an estimator declares it there and passes nothing on. Checks of single parameters, which need
no data, are in ``sparsieve._checks``.
"""
