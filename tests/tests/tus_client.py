"""Drives tuspy, the Python client of the tus project, as a job in JSON says.

Prints one line of JSON: the upload's address, its offset, the submission that
it became, and the status of a refusal.
"""

import hashlib
import json
import sys

from tusclient import client
from tusclient.exceptions import TusCommunicationError


def main():
    job = json.loads(sys.argv[1])
    tus = client.TusClient(job["url"], headers={"Authorization": "Bearer " + job["token"]})
    uploader = tus.uploader(
        job["file"],
        chunk_size=job["chunk"],
        url=job.get("upload"),
        metadata=job["metadata"],
        upload_checksum=job.get("checksum", False),
        retries=job.get("retries", 0),
        retry_delay=0,
    )
    if "pretend_offset" in job:
        uploader.offset = job["pretend_offset"]
    if job.get("damage"):
        # The sum of other bytes, as if these had been changed on their way.
        uploader._BaseUploader__checksum_algorithm = lambda chunk: hashlib.sha1(chunk + b"x")
    told = {}
    try:
        uploader.upload(stop_at=job.get("stop_at"))
        told["submission"] = uploader.request.response_headers.get("faultboard-submission")
    except TusCommunicationError as error:
        told["refused"] = error.status_code
    told["upload"] = uploader.url
    told["offset"] = uploader.get_offset()
    print(json.dumps(told))


main()
