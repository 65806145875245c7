"""The search as functions: `fit`, `fit_model`, `compare`, and the estimator `WorstCaseLinkage`."""
