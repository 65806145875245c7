library(testthat)
library(linkrisk)

test_check("linkrisk")
