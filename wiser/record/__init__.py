"""Recorded episodes and how to share them: a file, a web page, a film, a Rerun recording.

>>> recorder = Recorder(agent.sensors, {"unguarded": "none", "guarded": "greedy"}, About("Glare from step 40 on"))
>>> recorder.add("guarded", obs, verdict, reward=reward, broken=broken_now(env.sensor_names, intensity, "glare"))
>>> recording = recorder.recording()
>>> recording.save("glare.npz"), export(recording, "glare.html")
"""

from wiser.record.export import check_target, export
from wiser.record.film import save_film, to_gif, to_mp4
from wiser.record.recorder import Recorder, broken_now
from wiser.record.recording import About, Lane, Recording, RecordingError
from wiser.record.rrd import to_rrd
from wiser.record.sample import Sample
from wiser.record.web import to_html

__all__ = [
    "About",
    "Lane",
    "Recorder",
    "Recording",
    "RecordingError",
    "Sample",
    "broken_now",
    "check_target",
    "export",
    "save_film",
    "to_gif",
    "to_html",
    "to_mp4",
    "to_rrd",
]
