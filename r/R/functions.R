# Written by scripts/r_package.py: the options are those that linkrisk declares.

fit <- function(original = NULL, masked = NULL, attributes = NULL, id = NULL, row_by_row = FALSE,
  drop_constant = FALSE, nominal = NULL, ordinal = NULL, schema = NULL, masking = NULL,
  aggregator = "weighted-mean", direction = "original-to-masked", ties = "strict",
  standardisation = "own", differences = NULL, missing = "expected", k_additive = NULL,
  time_limit = "auto", work_limit = NULL, seed = 0, threads = NULL, margin = NULL,
  big_c = NULL, sample = "auto", samples = NULL, confidence = 0.95, strata = NULL,
  scheduler = NULL, workers = NULL, engine = NULL, backend = NULL, memory_limit = "auto",
  certificate = FALSE, certificate_time_limit = NULL) {
  ask("fit", match.call(), environment())
}

risk <- function(original = NULL, masked = NULL, attributes = NULL, id = NULL, row_by_row = FALSE,
  drop_constant = FALSE, releases = "together", versions = FALSE, measures = "all",
  tolerated = 0.05, groups = NULL, fraction = NULL, nominal = NULL, ordinal = NULL,
  schema = NULL, masking = NULL, aggregator = "all", direction = "original-to-masked",
  ties = NULL, standardisation = "own", differences = NULL, missing = "expected",
  k_additive = NULL, time_limit = "auto", work_limit = NULL, seed = 0, scheduler = NULL,
  workers = NULL, sample = "auto", samples = NULL, confidence = 0.95,
  memory_limit = "auto", certificates = FALSE) {
  ask("risk", match.call(), environment())
}

verify <- function(result, original = NULL, masked = NULL, certificate = NULL, attributes = NULL, id = NULL,
  row_by_row = FALSE, schema = NULL, tables = NULL, metadata = NULL, cells = NULL,
  relations = NULL, by = NULL, hierarchies = NULL, totals = NULL, value = NULL,
  apriori = NULL, counts = NULL, recompute = FALSE, made = NULL) {
  ask("verify", match.call(), environment())
}

mask <- function(data, method, parameters = NULL, schema = NULL, id = NULL, weight = NULL, strata = NULL,
  drop = NULL, shuffle = FALSE, renumber = NULL, seed = NULL) {
  ask("mask", match.call(), environment())
}

suppress <- function(data, answer = NULL, drop = NULL, keys = NULL, k = NULL, levels = NULL, dimension = NULL,
  tables = NULL, threshold = 1, risk = NULL, missing = NULL, weight = NULL, schema = NULL,
  problem = "cover", hierarchies = NULL, cost = NULL, priorities = NULL, untouched = NULL,
  ghosts = NULL, household = NULL, head = NULL, household_keys = NULL, backend = "highs",
  seed = 0, time_limit = 60) {
  ask("suppress", match.call(), environment())
}

unsafe <- function(data, keys = NULL, k = NULL, levels = NULL, dimension = NULL, tables = NULL,
  threshold = 1, risk = NULL, missing = NULL, weight = NULL, schema = NULL, recode = NULL,
  hierarchies = NULL) {
  ask("unsafe", match.call(), environment())
}

make_table <- function(data, by, response = NULL, rules = NULL, hierarchies = NULL, holding = NULL,
  weight = NULL, shadow = NULL, cost_column = NULL, request = NULL, respondent = NULL,
  weights_in_rules = "expanded", negative = FALSE, publish_respondents = FALSE,
  protection = "both", empty = "published", manual = NULL, manual_range = 20,
  schema = NULL, missing = "refuse") {
  ask("make_table", match.call(), environment())
}

suppress_table <- function(cells = NULL, relations = NULL, tables = NULL, metadata = NULL, by = NULL,
  hierarchies = NULL, totals = NULL, value = NULL, apriori = NULL, counts = NULL,
  recompute = FALSE, made = NULL, method = "auto", cost = "value", insiders = NULL,
  contributors = NULL, coalitions = NULL, as_far_as_possible = FALSE, exact = FALSE,
  backend = "exact", seed = 0, time_limit = 60) {
  ask("suppress_table", match.call(), environment())
}

audit_table <- function(cells = NULL, relations = NULL, tables = NULL, metadata = NULL, by = NULL,
  hierarchies = NULL, totals = NULL, value = NULL, apriori = NULL, counts = NULL,
  recompute = FALSE, made = NULL, insiders = NULL, contributors = NULL, coalitions = NULL,
  as_far_as_possible = FALSE, exact = FALSE, also = NULL, workers = NULL,
  time_limit = NULL) {
  ask("audit_table", match.call(), environment())
}

round_table <- function(cells = NULL, relations = NULL, tables = NULL, metadata = NULL, by = NULL,
  hierarchies = NULL, totals = NULL, value = NULL, apriori = NULL, counts = NULL,
  recompute = FALSE, made = NULL, base, relaxed = FALSE, backend = "highs", seed = 0,
  time_limit = 60) {
  ask("round_table", match.call(), environment())
}

adjust_table <- function(cells = NULL, relations = NULL, tables = NULL, metadata = NULL, by = NULL,
  hierarchies = NULL, totals = NULL, value = NULL, apriori = NULL, counts = NULL,
  recompute = FALSE, made = NULL, cost = "value", squares = FALSE, up = FALSE,
  backend = NULL, seed = 0, time_limit = 60) {
  ask("adjust_table", match.call(), environment())
}

perturb_counts <- function(data, by, hierarchies = NULL, most = NULL, variance = NULL, small = 0, stay = NULL,
  monotone = TRUE, design = NULL, weight = NULL, schema = NULL, missing = "refuse",
  record_key = NULL, seed = 0) {
  ask("perturb_counts", match.call(), environment())
}
