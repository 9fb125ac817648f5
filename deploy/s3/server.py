"""A server that speaks S3, with one bucket, to try the service on a bucket; what it is given ends with it."""

import argparse
import signal
import urllib.request

from moto.server import ThreadedMotoServer

BUCKET = "costboost"
SIGNALS = (signal.SIGTERM, signal.SIGINT)


def main() -> None:
    """Serve until SIGTERM or SIGINT; the bucket is there before the first line is printed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--host", default="0.0.0.0")
    parser.add_argument("--port", type=int, default=5000)
    given = parser.parse_args()
    # Blocked before threads are started, which inherit it: only `sigwait` takes them.
    signal.pthread_sigmask(signal.SIG_BLOCK, SIGNALS)
    server = ThreadedMotoServer(given.host, given.port, verbose=False)
    server.start()
    _, port = server.get_host_and_port()
    make = urllib.request.Request(f"http://127.0.0.1:{port}/{BUCKET}", method="PUT")
    urllib.request.urlopen(make, timeout=30).close()
    print(f"s3://{BUCKET} at port {port}", flush=True)
    signal.sigwait(SIGNALS)
    server.stop()


if __name__ == "__main__":
    main()
