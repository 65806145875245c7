"""Where file pairs come from: named data, users' files, schemas and masking methods.

May import numpy, scipy, pandas and scikit-learn; never `solver`, and of `formulations` its
decorator of compiled code only.
"""
