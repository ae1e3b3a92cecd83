"""A model for agents that are run for real: answers chat completions from a
script, in order, and notes what it was asked.

Usage: scripted_model.py SCRIPT ASKED, where SCRIPT is JSON: a list of answers,
each {"say": text, "run": [commands]}. Prints its port and serves until its
standard input ends.
"""

import http.server
import json
import sys
import threading

script = json.load(open(sys.argv[1]))
asked = open(sys.argv[2], "w")
turn = 0


class Model(http.server.BaseHTTPRequestHandler):
    def log_message(self, *args):
        pass

    def do_POST(self):
        global turn
        body = self.rfile.read(int(self.headers.get("content-length", 0)))
        asked.write(body.decode() + "\n")
        asked.flush()
        answer = script[min(turn, len(script) - 1)]
        turn += 1
        message = {"role": "assistant", "content": answer["say"]}
        calls = [
            {
                "id": f"call_{turn}_{i}",
                "type": "function",
                "function": {"name": "bash", "arguments": json.dumps({"command": command})},
            }
            for i, command in enumerate(answer["run"])
        ]
        if calls:
            message["tool_calls"] = calls
        reply = {
            "id": f"chatcmpl-{turn}",
            "object": "chat.completion",
            "created": 1700000000 + turn,
            "model": "scripted",
            "choices": [
                {
                    "index": 0,
                    "message": message,
                    "finish_reason": "tool_calls" if calls else "stop",
                }
            ],
            "usage": {
                "prompt_tokens": 1000 + 10 * turn,
                "completion_tokens": 20 + turn,
                "total_tokens": 1020 + 11 * turn,
            },
        }
        data = json.dumps(reply).encode()
        self.send_response(200)
        self.send_header("content-type", "application/json")
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)


server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Model)
threading.Thread(target=server.serve_forever, daemon=True).start()
print(server.server_address[1], flush=True)
sys.stdin.read()
