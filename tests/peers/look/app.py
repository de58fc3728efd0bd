"""A web application that keeps what it has answered: run by Flask's own server, and by gunicorn."""
import os

from flask import Flask, jsonify
from pympler import asizeof

app = Flask(__name__)
ANSWERS = {}


@app.route("/page/<int:number>")
def page(number):
    ANSWERS[number] = ["line %d of page %d" % (i, number) for i in range(400)]
    return "ok"


@app.route("/own")
def own():
    return jsonify(pid=os.getpid(), bytes=asizeof.asizeof(ANSWERS))


if __name__ == "__main__":
    app.run(port=int(os.environ["PORT"]), threaded=True)
