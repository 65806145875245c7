# The Python side: found when it is first needed, asked by one function.

the <- new.env(parent = emptyenv())

helper <- function() {
  if (is.null(the$helper)) {
    folder <- system.file("python", package = "linkrisk", mustWork = TRUE)
    the$helper <- tryCatch(
      reticulate::import_from_path("linkrisk_r", folder),
      error = function(cause) stop_linkrisk(not_there(cause), "InstallationError")
    )
  }
  the$helper
}

not_there <- function(cause) {
  python <- tryCatch(reticulate::py_config()$python, error = function(none) NULL)
  if (is.null(python)) {
    return("no Python was found; name one that has linkrisk: Sys.setenv(RETICULATE_PYTHON = \"...\")")
  }
  if (grepl("No module named", conditionMessage(cause), fixed = TRUE)) {
    return(paste0(
      python, " has no linkrisk; install it there (", python, " -m pip install linkrisk), or name a Python ",
      "that has it before the first call: Sys.setenv(RETICULATE_PYTHON = \"...\")"
    ))
  }
  paste0("linkrisk of ", python, " cannot be loaded: ", gsub("\\s+", " ", conditionMessage(cause)))
}

stop_linkrisk <- function(message, kinds) {
  stop(structure(
    class = c(paste0("linkrisk_", unlist(kinds)), "linkrisk_error", "error", "condition"),
    list(message = message, call = NULL)
  ))
}

answer_of <- function(answer) {
  if (!is.null(answer$error)) stop_linkrisk(answer$error, answer$kinds)
  answer$result
}

# Calls a function of linkrisk with the arguments that the caller of the R function gave, and no others:
# NULL that somebody has typed is no limit, NULL that nobody typed is the default.
ask <- function(name, asked, given) {
  arguments <- mget(names(as.list(asked))[-1], envir = given)
  result <- answer_of(helper()$call(name, as_argument(arguments, top = TRUE)))
  new_result(result, name, released_from(name, arguments))
}

# The table whose columns come back in the result, as R had it.
released_from <- function(name, arguments) {
  data <- arguments$data
  if (name %in% c("mask", "suppress") && is.data.frame(data)) data
}

#' @noRd
linkrisk_version <- function() helper()$version()
