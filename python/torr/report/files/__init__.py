"""The files of a report: page, summary, CSV, .dat, JUnit, pictures."""
