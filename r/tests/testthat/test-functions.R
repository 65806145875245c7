test_that("fit, risk and verify say what those of Python say", {
  skip_without_python()
  data <- people()[-(3:6), c("age", "income")]
  rownames(data) <- NULL
  masked <- mask(data, "noise percent=40", seed = 1)$table
  result <- fit(data, masked, certificate = TRUE, time_limit = NULL)
  expect_s3_class(result, "linkrisk_result")
  expect_identical(result$status, "optimal")
  expect_identical(result$linked, result$linked_upper_bound)
  expect_true(result$linked > 0 && result$linked <= nrow(data))
  expect_match(paste(format(result), collapse = "\n"), "proven")
  expect_true(verify(result, data, masked)$verified)
  measured <- risk(data, masked, measures = "uniqueness", time_limit = NULL)
  expect_s3_class(measured$table, "data.frame")
  expect_gt(nrow(measured$table), 0)
})

test_that("tables are made, protected and audited", {
  skip_without_python()
  data <- people()
  data$town[5] <- "Ulm"
  made <- make_table(data, c("town", "degree"), rules = "frequency=9")
  expect_true("u" %in% made$table$status)
  safe <- suppress_table(made, time_limit = NULL)
  expect_true(all(c("low", "high") %in% names(safe$table)))
  expect_identical(nrow(safe$table), nrow(made$table))
  counts <- make_table(data, "town")
  expect_true(all(round_table(counts, base = 5)$table$rounded %% 5 == 0))
})

test_that("whole numbers, single names and NULL are what Python expects", {
  skip_without_python()
  data <- people()
  data$town[5] <- "Ulm"
  expect_identical(unsafe(data, keys = "town", k = 2)$details$records, 60L)
  by_size <- unsafe(data, levels = c(town = 1, degree = 2), threshold = c("1" = 1, "2" = 3))
  expect_identical(by_size$records, 60L)
  found <- suppress(data, keys = c("town", "degree"), k = 9, untouched = "degree", ghosts = list(town = "remark"))
  expect_gt(sum(is.na(found$table$town)), 0)
  expect_identical(which(is.na(found$table$degree)), integer())
  expect_true(all(is.na(found$table$remark[is.na(found$table$town)])))
})

test_that("what a user can mend is a condition with one line", {
  skip_without_python()
  expect_error(mask(people(), "noize"), "there is no masking method 'noize'; did you mean 'noise'?",
    class = "linkrisk_DataError", fixed = TRUE
  )
  wrong <- tryCatch(fit(people()["age"], people()["income"]), linkrisk_error = identity)
  expect_s3_class(wrong, "linkrisk_error")
  expect_length(strsplit(conditionMessage(wrong), "\n")[[1]], 1)
  expect_error(suppress("nowhere.csv", k = 2), "nowhere.csv", class = "linkrisk_error", fixed = TRUE)
  expect_error(mask(data.frame(a = I(list(1, 2))), "noise"), "column 'a' is a", class = "linkrisk_DataError")
  twice <- data.frame(a = 1:2, a = 1:2, check.names = FALSE)
  expect_error(mask(twice, "noise"), "two columns named 'a'", class = "linkrisk_DataError")
  expect_error(fit(tim_limit = 3), "unused argument")
})

test_that("messages spell options as R does", {
  skip_without_python()
  data <- people()[c("age", "income")]
  shown <- paste(format(fit(data, data + 0.5, time_limit = NULL)), collapse = " ")
  expect_match(shown, 'missing = "expected"', fixed = TRUE)
})

test_that("a report is written", {
  skip_without_python()
  data <- people()
  data$town[5] <- "Ulm"
  page <- tempfile(fileext = ".html")
  expect_identical(write_report(suppress(data, keys = "town", k = 2), page), page)
  expect_match(readChar(page, 200), "<!doctype html>", ignore.case = TRUE)
  expect_error(write_report(suppress(data, keys = "town", k = 2), file.path(page, "x.html")),
    class = "linkrisk_error"
  )
})

test_that("code of the vignette runs", {
  skip_without_python()
  path <- system.file("doc", "linkrisk.Rmd", package = "linkrisk")
  if (path == "") path <- testthat::test_path("..", "..", "vignettes", "linkrisk.Rmd")
  skip_if_not(file.exists(path), "the vignette is not installed")
  lines <- readLines(path, encoding = "UTF-8")
  fence <- grep("^```", lines)
  starts <- grep("^```\\{r", lines)
  code <- lapply(starts, function(at) lines[(at + 1):(fence[fence > at][1] - 1)])
  expect_gt(length(code), 2)
  expect_no_error(utils::capture.output(eval(parse(text = unlist(code)), new.env())))
})
