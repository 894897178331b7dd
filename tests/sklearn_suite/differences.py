"""Where sortal differs from scikit-learn on purpose, and why.

A key is a pattern over "name of the test: what it says when it fails", so that a test that fails
for another reason than the one given here is unexpected.
"""

from __future__ import annotations

DIFFERENCES: dict[str, str] = {
    # --- All classifiers ---
    "Sparse data was passed, but dense data is required": (
        "Sparse matrices are refused, with the words to convert them."
    ),
    "y should be a 1d array|test_class_weight_errors": (
        "One label per row: several outputs at once are several classifiers."
    ),
    "test_pandas_column_name_consistency.*predict did not raise": (
        "Columns are matched by name, so that their order need not be that of the fit."
    ),
    "no attribute '_parameter_constraints'": (
        "The check reads a private table of scikit-learn; parameters are validated by sortal's own."
    ),
    "test_lda_dtype_match.float32-float32": (
        "All arithmetic is in float64, whatever the type of X."
    ),
    "test_sample_weight_invalid": (
        "A single 0 for sample_weight is refused in sortal's words: no row has weight."
    ),
    # --- Discriminants ---
    "test_lda_predict: .*NotImplementedError|test_lda_transform: .*NotImplementedError": (
        "There is one way to calculate, so that no combination of solver and shrinkage fails."
    ),
    "test_lda_priors|test_gnb_(neg|wrong_nb)_priors|test_gnb_prior_greater_one"
    "|test_discretenb_provide_prior.CategoricalNB": (
        "Priors that are negative, do not add up to 1 or are of another number are refused in "
        "sortal's words; none are rescaled."
    ),
    "test_(lda|qda)_store_covariance": "Covariances are always kept, before and after shrinkage.",
    "test_lda_shrinkage|test_lda_ledoitwolf|test_qda_covariance_estimator|test_qda_ledoitwolf": (
        "No foreign estimator of a covariance: it would have to see rows, and a model is made of "
        "moments. Ledoit and Wolf's formula is applied to the pooled covariance, not standardized."
    ),
    "test_qda_shrinkage_performance": (
        "Ledoit and Wolf's formula is offered for the pooled covariance only; of class covariances "
        "the shrinkage is a number, or chosen by leaving out rows."
    ),
    "test_lda_dimension_warning": "Too large an n_components is refused in sortal's words.",
    "test_qda_coefs.*rotations_": (
        "A class keeps a root of its covariance; rotations and scalings come with to_sklearn."
    ),
    r"test_qda\[|test_qda_regularization|test_raises_value_error_on_(same_number|one_sample)": (
        "A class with too few rows for a covariance of its own takes what it lacks from all "
        "classes together, with a warning (decision 0017); a column that never varies is ignored."
    ),
    # --- Bayes ---
    "test_gnb: .*DID NOT RAISE|test_NB_partial_fit_no_first_classes": (
        "Classes need not be declared at the first partial_fit: a new one may come in any piece."
    ),
    "no attribute '(class_count_|n_categories_|category_count_)'": (
        "Counts are in working(), by value; categories are values, not codes from 0, so that "
        "there is no number of them beyond those seen or declared."
    ),
    "test_categoricalnb_min_categories_errors": (
        "There is no min_categories: a categorical type declares values that no row has."
    ),
    r"test_alpha\[": "alpha=0 is taken at its word, and not raised to 1e-10.",
    "test_check_accuracy_on_digits": (
        "The least variance is 1e-9 of the column's own, not of the widest column's (decision "
        "0004): of pixels that hardly vary, a few rows decide."
    ),
    "predict_joint_log_proba": "ln P(x, c) is not a public method: working(X) shows it.",
    # --- Trees ---
    "test_xor|test_with_only_one_non_constant_features": (
        "A split that gains nothing is not allowed: in XOR no single split gains, and the tree is "
        "one leaf."
    ),
    "test_max_features": "No columns are drawn at random: a node takes the best split of all.",
    "test_min_impurity_decrease": (
        "min_gain is a threshold in the scale of the criterion at the node, not one weighted by "
        "its proportion of all rows."
    ),
    "test_importances_gini_equal_squared_error": (
        "Of splits with equal scores the first column wins; scikit-learn's regression tree, with "
        "which this compares, draws one at random."
    ),
    "test_almost_constant_feature": (
        "Numbers that differ are different, however little: they are not rounded to float32, and "
        "there is no least distance of 1e-7."
    ),
    "test_big_input": "Numbers beyond float32 are numbers: nothing is rounded to it.",
    "test_huge_allocations": (
        "max_leaf_nodes is a bound, for which no memory is taken before there are nodes."
    ),
    "test_min_sample_split_1_error": (
        "leaf_size takes the place of min_samples_split, and is refused in its own words."
    ),
    "test_missing_values_best_splitter_missing_both_classes_has_nan": (
        "Missing values on either side score the same here: they join the yes branch, which is "
        "tried first."
    ),
    "test_build_pruned_tree": (
        "These build scikit-learn's nodes by its private functions; prune() does it here."
    ),
    # --- Neighbors ---
    "metric='precomputed'|test_precomputed_cross_validation": (
        "Distances are calculated here from rows, which are kept to be shown."
    ),
    "weights=<function": "A vote's weight has a name, so that it can be saved and explained.",
    "p=0.1 cannot be used|test_neighbors_minkowski_semimetric_algo_error": (
        "Below p = 1 the triangle inequality fails, by which searches leave rows out exactly."
    ),
    "test_neighbors_validate_parameters|test_metric_params_interface": (
        "Wrong parameters are refused in sortal's words; there is no metric_params."
    ),
    "test_unsupervised_inputs.*NearestNeighbors": (
        "A fitted search structure is not a table of rows."
    ),
    "test_neighbor_classifiers_loocv.*NoneType": (
        "Leaving out each row is loo_proba(X, y), not predict(None)."
    ),
}
