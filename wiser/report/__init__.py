"""The paper's figures and tables from the ledgers of sweeps: `wiser report`."""

from wiser.report.assemble import Report, assemble
from wiser.report.exhibit import Exhibit, Table
from wiser.report.results import ReportError, Sweep, read_sweep
from wiser.report.training import Run, read_runs

__all__ = ["Exhibit", "Report", "ReportError", "Run", "Sweep", "Table", "assemble", "read_runs", "read_sweep"]
