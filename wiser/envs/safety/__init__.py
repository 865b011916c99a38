"""Safety Gymnasium: a robot that is to reach goals or press buttons and to do no harm, seen by three cameras."""
