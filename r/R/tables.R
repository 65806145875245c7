# Data frames to Python and back. What linkrisk has not changed stays the column of R that it was, with its
# class and all attributes.

as_argument <- function(x, top = FALSE) {
  if (is.null(x)) return(NULL)
  if (inherits(x, "linkrisk_result")) return(x$python)
  if (inherits(x, "python.builtin.object")) return(x)
  if (is.data.frame(x)) return(as_columns(x))
  if (is.factor(x)) x <- as.character(x)
  if (is.list(x)) {
    made <- lapply(x, as_argument)
    return(if (length(made) || !top) made else reticulate::dict())
  }
  if (is.matrix(x)) return(as_columns(as.data.frame(x)))
  if (is.atomic(x)) {
    if (is.double(x) && !is.object(x) && all(is.finite(x)) && all(x == trunc(x)) && all(abs(x) < 2^31)) {
      x[] <- x
      storage.mode(x) <- "integer" # 3 is written for 3L
    }
    return(if (length(x) == 1 && is.null(names(x))) unname(x) else as.list(x))
  }
  stop_linkrisk(paste0("an argument is a ", class(x)[1], "; give a data frame, text, numbers or a list"), "UsageError")
}

listed <- function(x) if (length(x) < 2) as.list(x) else x

as_columns <- function(data) {
  own <- .row_names_info(data) > 0
  twice <- names(data)[duplicated(names(data))]
  if (length(twice)) {
    stop_linkrisk(paste0("the data frame has two columns named '", twice[1], "'; rename one of them"), "DataError")
  }
  list(
    linkrisk_columns = unname(lapply(names(data), function(name) as_column(name, data[[name]]))),
    rows = nrow(data),
    row_names = if (own) listed(attr(data, "row.names"))
  )
}

as_column <- function(name, x) {
  # Codes that are declared missing are no missing values here, as they are for is.na() of a labelled column.
  gone <- which(is.na(if (inherits(x, "haven_labelled")) as.vector(unclass(x)) else x))
  declared <- NULL
  made <- if (is.factor(x)) {
    list(kind = "factor", values = as.integer(x), levels = listed(enc2utf8(levels(x))), ordered = is.ordered(x))
  } else if (inherits(x, "Date")) {
    list(kind = "date", values = as.double(unclass(x)))
  } else if (inherits(x, "POSIXct")) {
    list(kind = "datetime", values = as.double(unclass(x)))
  } else if (is.logical(x)) {
    list(kind = "logical", values = as.vector(x))
  } else if (is.numeric(x) && (inherits(x, "haven_labelled") || !is.object(x))) {
    declared <- declarations(x, gone)
    list(kind = if (is.integer(x)) "integer" else "double", values = as.vector(unclass(x)))
  } else if (is.character(x)) {
    declared <- declarations(x, gone)
    list(kind = "character", values = enc2utf8(as.vector(unclass(x))))
  } else {
    stop_linkrisk(
      paste0("column '", name, "' is a ", class(x)[1], "; make numbers, text, a factor or a date of it"), "DataError"
    )
  }
  if (length(dim(x)) > 1) {
    stop_linkrisk(paste0("column '", name, "' has several columns itself; give each a name of its own"), "DataError")
  }
  if (length(gone)) made$values[gone] <- switch(made$kind, logical = FALSE, character = "", factor = 1L, 0)
  made$values <- listed(made$values)
  c(list(name = enc2utf8(name), missing = as.list(gone), declared = declared), made)
}

spelled <- function(codes) {
  if (is.character(codes)) return(enc2utf8(codes))
  trimws(vapply(codes, function(code) format(code, digits = 15, scientific = FALSE), ""))
}

# What a column of package haven says of itself, as a schema says it. It has categories where all its values
# have a label, as in a file of SPSS.
declarations <- function(x, gone) {
  labels <- attr(x, "labels", exact = TRUE)
  label <- attr(x, "label", exact = TRUE)
  missing <- spelled(attr(x, "na_values", exact = TRUE))
  range <- attr(x, "na_range", exact = TRUE)
  made <- list()
  if (is.character(label) && length(label) == 1) made$label <- enc2utf8(label)
  labels <- labels[!is.na(labels)]
  if (length(labels)) {
    made$labels <- stats::setNames(as.list(enc2utf8(names(labels))), spelled(labels))
    known <- spelled(unique(as.vector(unclass(x))[setdiff(seq_along(x), gone)]))
    if (all(known %in% c(spelled(labels), missing))) made$scale <- "nominal"
  }
  ends <- stats::setNames(as.list(as.double(range)), c("from", "to")[seq_along(range)])
  ranges <- if (length(range)) list(ends[is.finite(range)])
  if (length(missing) || length(ranges)) made$missing <- c(as.list(missing), ranges)
  if (length(made)) made
}

# The columns of Python as a table of R; `before` is the data frame that they were made of, if any.
as_table <- function(answer, before = NULL) {
  if (is.null(answer)) return(NULL)
  columns <- lapply(answer$columns, function(column) {
    old <- before[[column$name]]
    if (is.null(old)) return(of_python(column))
    if (!is.null(answer$order)) old <- old[as.integer(unlist(answer$order))]
    released(old, column)
  })
  names(columns) <- vapply(answer$columns, function(column) column$name, "")
  if (requireNamespace("tibble", quietly = TRUE)) {
    return(tibble::new_tibble(columns, nrow = answer$rows))
  }
  structure(columns, class = "data.frame", row.names = .set_row_names(answer$rows))
}

of_python <- function(column) {
  values <- unlist(column$values)
  gone <- as.integer(unlist(column$missing))
  if (is.null(values)) values <- if (column$kind == "character") character() else numeric()
  values <- switch(column$kind,
    factor = factor(levels_of(column)[ifelse(values > 0, values, NA)], levels_of(column), ordered = column$ordered),
    logical = as.logical(values),
    integer = as.integer(values),
    datetime = if (all(values %% 86400 == 0)) {
      as.Date(values / 86400, origin = "1970-01-01")
    } else {
      as.POSIXct(values, origin = "1970-01-01", tz = "UTC")
    },
    values
  )
  values[gone] <- NA
  values
}

levels_of <- function(column) as.character(unlist(column$levels))

# A column of the released table: the old one where nothing was changed, without some values where these were
# taken out, or else the new values with as much of the old attributes as still holds.
released <- function(old, column) {
  changed <- as.integer(unlist(column$changed))
  if (!length(changed)) return(old)
  if (all(changed %in% unlist(column$missing))) {
    old[changed] <- NA
    return(occurring(old))
  }
  new <- of_python(column)
  if (is.factor(new)) return(with_label(new, old))
  if (inherits(old, "POSIXct") && inherits(new, c("Date", "POSIXct"))) {
    new <- as.POSIXct(new)
    attr(new, "tzone") <- attr(old, "tzone", exact = TRUE)
    return(with_label(new, old))
  }
  if (is.double(old) && is.integer(new)) storage.mode(new) <- "double"
  if (!inherits(old, "haven_labelled") || typeof(old) != typeof(new)) {
    return(with_labels(with_label(new, old), column$labels))
  }
  attributes(new) <- attributes(old)
  if (length(column$labels)) return(with_labels(new, column$labels))
  occurring(new)
}

with_label <- function(new, old) {
  attr(new, "label") <- attr(old, "label", exact = TRUE)
  new
}

# New codes with what they mean, where masking has made some.
with_labels <- function(new, labels) {
  if (!length(labels) || !requireNamespace("haven", quietly = TRUE)) return(new)
  codes <- names(labels)
  if (!is.character(new)) codes <- suppressWarnings(as.double(codes))
  if (anyNA(codes)) return(new)
  storage.mode(codes) <- typeof(new)
  haven::labelled(new, stats::setNames(codes, unlist(labels)), label = attr(new, "label", exact = TRUE))
}

# A level or a label that no record has any more tells whose value was taken out.
occurring <- function(x) {
  if (is.factor(x)) return(with_label(droplevels(x), x))
  labels <- attr(x, "labels", exact = TRUE)
  if (is.null(labels)) return(x)
  kept <- is.na(labels) | labels %in% unclass(x) | labels %in% attr(x, "na_values", exact = TRUE)
  attr(x, "labels") <- labels[kept]
  x
}
