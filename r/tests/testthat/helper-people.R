skip_without_python <- function() {
  there <- tryCatch(is.character(linkrisk:::linkrisk_version()), linkrisk_error = function(error) FALSE)
  testthat::skip_if_not(there, "no Python with linkrisk: set RETICULATE_PYTHON")
}

people <- function() {
  n <- 60
  at <- seq_len(n)
  made <- data.frame(
    age = 20L + (at * 7L) %% 50L,
    income = 1000 + ((at * 37) %% 61) * 25.5,
    town = factor(c("Ulm", "Bonn", "Köln")[1 + (at * 5) %% 3], levels = c("Ulm", "Bonn", "Köln", "Trier")),
    degree = factor(c("low", "mid", "high")[1 + (at * 11) %% 3], levels = c("low", "mid", "high"), ordered = TRUE),
    born = as.Date("1980-01-01") + at * 113,
    seen = as.POSIXct("2024-03-01 10:30:00", tz = "Europe/Berlin") + at * 3601,
    member = c(TRUE, FALSE, NA)[1 + at %% 3],
    remark = sprintf("ä %d", at)
  )
  made$income[3] <- NA
  made$age[4] <- NA
  made$town[5] <- NA
  made$remark[6] <- NA
  made
}
