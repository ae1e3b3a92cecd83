# Fits the mixed model of a reference case with lme4 and prints estimates and
# seconds, as JSON. Arguments: CSV of model, case, ctx, pass; how many fits to time.
for (p in c("methods", "utils", "stats")) library(p, character.only = TRUE)
suppressPackageStartupMessages(library(lme4))
arguments <- commandArgs(trailingOnly = TRUE)
data <- read.csv(arguments[1], stringsAsFactors = TRUE)
times <- as.integer(arguments[2])
careful <- glmerControl(optimizer = "bobyqa", tolPwrss = 1e-13, optCtrl = list(maxfun = 200000, rhoend = 1e-9))
seconds <- function(control) {
  spent <- numeric(times)
  for (i in seq_len(times)) {
    gc(FALSE)
    spent[i] <- system.time(
      fit <<- glmer(pass ~ ctx + (1 | model) + (1 | case), data = data, family = binomial, nAGQ = 1, control = control)
    )[["elapsed"]]
  }
  median(spent)
}
plain <- suppressWarnings(seconds(glmerControl()))
slow <- suppressWarnings(seconds(careful))
table <- coef(summary(fit))
variances <- as.data.frame(VarCorr(fit))
cat(sprintf(
  '{"seconds_default": %.9f, "seconds_careful": %.9f, "b0": %.17g, "b_ctx": %.17g, "se_ctx": %.17g, "var_model": %.17g, "var_case": %.17g, "loglik": %.17g, "lme4": "%s", "R": "%s"}\n',
  plain, slow, table[1, 1], table[2, 1], table[2, 2],
  variances$vcov[variances$grp == "model"], variances$vcov[variances$grp == "case"],
  as.numeric(logLik(fit)), as.character(packageVersion("lme4")), R.version.string
))
