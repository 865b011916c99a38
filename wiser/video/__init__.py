"""World models whose sensor is a camera and whose prediction is a video."""
