there_and_back <- function(data) {
  python <- linkrisk:::helper()
  frame <- python$frame(linkrisk:::as_argument(data))
  column <- function(name) {
    linkrisk:::of_python(python$`_column`(name, reticulate::py_get_item(frame, name)))
  }
  stats::setNames(lapply(names(data), column), names(data))
}

test_that("every kind of column goes to Python and back, missing values included", {
  skip_without_python()
  data <- people()
  back <- there_and_back(data)
  for (name in setdiff(names(data), "seen")) expect_equal(back[[name]], data[[name]], info = name)
  expect_equal(as.double(back$seen), as.double(data$seen))
})

test_that("columns of one record, of none and without any value come back", {
  skip_without_python()
  for (rows in list(3, integer(), c(3, 3))) {
    data <- people()[rows, c("income", "town", "remark")]
    rownames(data) <- NULL
    expect_equal(there_and_back(data)$town, data$town)
    expect_equal(is.na(there_and_back(data)$income), is.na(data$income))
    expect_equal(there_and_back(data)$remark, data$remark)
  }
})

test_that("a column that is not masked is the column of R that was given", {
  skip_without_python()
  data <- people()
  table <- mask(data, "noise percent=10 attributes=income", seed = 1)$table
  others <- setdiff(names(data), "income")
  expect_identical(as.list(table)[others], as.list(data)[others])
  expect_identical(is.na(table$income), is.na(data$income))
  expect_false(isTRUE(all.equal(table$income, data$income)))
})

test_that("a released factor has no level that no record has", {
  skip_without_python()
  data <- people()
  table <- mask(data, "pram change=0.4 attributes=degree", seed = 1)$table
  expect_s3_class(table$degree, "ordered")
  expect_identical(levels(table$degree), c("low", "mid", "high"))
  safe <- suppress(data, keys = c("town", "age"), k = 2)$table
  expect_gt(sum(is.na(safe$town)), sum(is.na(data$town)))
  expect_identical(levels(safe$town), intersect(levels(data$town), as.character(safe$town)))
})

test_that("labelled columns are categories, and keep labels and missing codes", {
  skip_without_python()
  skip_if_not_installed("haven")
  data <- people()
  data$sex <- haven::labelled_spss(
    c(rep(1:2, 29), 9, 9) + 0, c(male = 1, female = 2, "no answer" = 9), na_values = 9, label = "Sex"
  )
  result <- mask(data, "pram change=0.5 attributes=sex", seed = 3)
  sex <- result$table$sex
  expect_s3_class(sex, "haven_labelled_spss")
  expect_identical(attr(sex, "labels"), attr(data$sex, "labels"))
  expect_identical(attr(sex, "label"), "Sex")
  expect_identical(which(unclass(sex) == 9), 59:60)
  expect_false(all(unclass(sex) == unclass(data$sex)))
  declared <- linkrisk:::as_column("sex", data$sex)$declared
  expect_identical(declared$scale, "nominal")
  expect_identical(declared$missing, list("9"))
  expect_identical(declared$labels, list("1" = "male", "2" = "female", "9" = "no answer"))
})

test_that("records in random order take their other columns with them", {
  skip_without_python()
  data <- people()
  table <- mask(data, "noise percent=1 attributes=income", shuffle = TRUE, seed = 1)$table
  expect_false(identical(table$remark, data$remark))
  row <- match(as.double(table$seen), as.double(data$seen))
  expect_identical(table$town, data$town[row])
  expect_identical(table$seen, data$seen[row])
})

test_that("names of rows align two data frames", {
  skip_without_python()
  data <- people()[-(3:6), c("age", "income")]
  masked <- data + 0.5
  shown <- format(fit(data, masked[rev(seq_len(nrow(data))), ], time_limit = NULL))
  expect_match(paste(shown, collapse = " "), "index labels|labels of")
})
