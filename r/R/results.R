# Results: what Python returned, with its table and its JSON made when they are asked for.

new_result <- function(python, name, before = NULL) {
  structure(
    list(python = python, before = before, cache = new.env(parent = emptyenv())),
    class = c(paste0("linkrisk_", name), "linkrisk_result")
  )
}

cached <- function(x, what, make) {
  cache <- .subset2(x, "cache")
  if (!exists(what, envir = cache, inherits = FALSE)) assign(what, make(), envir = cache)
  get(what, envir = cache, inherits = FALSE)
}

#' @export
`$.linkrisk_result` <- function(x, name) {
  switch(name,
    python = .subset2(x, "python"),
    table = cached(x, "table", function() as_table(helper()$table(x$python), .subset2(x, "before"))),
    details = cached(x, "details", function() helper()$details(x$python)),
    if (name %in% names(x$details)) x$details[[name]] else helper()$value(x$python, name)
  )
}

#' @export
`[[.linkrisk_result` <- function(x, i, ...) do.call("$", list(x, i))

#' @export
names.linkrisk_result <- function(x) c("table", "details", "python", names(x$details))

#' @export
print.linkrisk_result <- function(x, ...) {
  cat(format(x), sep = "\n")
  invisible(x)
}

#' @export
format.linkrisk_result <- function(x, ...) {
  strsplit(sub("\\s+$", "", helper()$text(x$python)), "\n", fixed = TRUE)[[1]]
}

#' @export
as.data.frame.linkrisk_result <- function(x, row.names = NULL, optional = FALSE, ...) {
  as.data.frame(x$table, row.names = row.names, optional = optional)
}

write_report <- function(result, file, external = FALSE) {
  answer_of(helper()$attempt(result$python$report, path.expand(file), external = external))
  invisible(file)
}
