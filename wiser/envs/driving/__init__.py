"""The driving world: three tasks with seven sensors. Tasks and sensors exist once, simulators stand behind them."""
