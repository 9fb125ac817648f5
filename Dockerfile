# The service: API, worker, migrations and command line in one image.
#
#   docker build -t costboost .
#   docker run -p 127.0.0.1:8000:8000 -v costboost:/var/lib/costboost costboost
#
# Nothing here needs BuildKit. Another base must be Debian with Python 3.11 or newer as `python`; from Python 3.12
# on with SQLite 3.42 or newer, which Debian 12 has not, if the database is SQLite.
ARG BASE_IMAGE=python:3.11-slim

FROM ${BASE_IMAGE} AS requirements
COPY pyproject.toml .
RUN python -c "import tomllib; project = tomllib.load(open('pyproject.toml', 'rb'))['project']; \
        extras = project['optional-dependencies']; \
        print(*project['dependencies'], *extras['service'], *extras['dask'], *extras['otel'], sep='\n')" > /requirements.txt

FROM ${BASE_IMAGE} AS build
ENV PIP_NO_CACHE_DIR=1 PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_ROOT_USER_ACTION=ignore
WORKDIR /source
# Installed anew when requirements change, not with every change of pyproject.toml.
# Only wheels, so that no compiler is needed.
COPY --from=requirements /requirements.txt .
COPY constraints.txt .
RUN python -m venv --without-pip /opt/costboost \
    && python -m pip --python /opt/costboost/bin/python install --only-binary :all: \
        --constraint constraints.txt --requirement requirements.txt \
    && python -m pip install --constraint constraints.txt hatchling
COPY pyproject.toml README.md LICENSE ./
COPY migrations migrations
COPY demo demo
COPY costboost costboost
COPY service service
RUN python -m pip wheel --no-deps --no-build-isolation --wheel-dir /wheels . \
    && python -m pip --python /opt/costboost/bin/python install --no-deps /wheels/*.whl

FROM ${BASE_IMAGE}
ARG VERSION=0.1.0
ARG REVISION=unknown
LABEL org.opencontainers.image.title="Costboost" \
      org.opencontainers.image.description="Cost-sensitive boosting, trained and served over HTTP" \
      org.opencontainers.image.licenses="Apache-2.0" \
      org.opencontainers.image.version="${VERSION}" \
      org.opencontainers.image.revision="${REVISION}"
# Folders are made here, with their owner: a volume that is mounted on one begins as its copy.
RUN groupadd --system --gid 10001 costboost \
    && useradd --system --uid 10001 --gid 10001 --home-dir /nonexistent --shell /usr/sbin/nologin costboost \
    && install --directory --owner costboost --group costboost \
        /var/lib/costboost /etc/costboost/secrets /etc/costboost/cluster /etc/costboost/monitoring
COPY --from=build /opt/costboost /opt/costboost
COPY demo /opt/costboost/demo
COPY deploy/make_secrets.py /opt/costboost/deploy/
ENV PATH=/opt/costboost/bin:$PATH \
    PYTHONDONTWRITEBYTECODE=1 \
    PYTHONUNBUFFERED=1 \
    NUMBA_CACHE_DIR=/var/cache/costboost
# Kernels are compiled now, for processors like this one, so that no job waits for it; nobody writes there later.
RUN python -c "from costboost.warming import warm; print(warm(), 'kernels compiled')"
USER costboost
WORKDIR /var/lib/costboost
EXPOSE 8000
STOPSIGNAL SIGTERM
HEALTHCHECK --interval=10s --timeout=10s --start-period=60s \
    CMD ["python", "-c", "import urllib.request; urllib.request.urlopen('http://127.0.0.1:8000/livez', timeout=8)"]
# Alone, it is API and worker on SQLite, with everything in ./data of the folder above.
CMD ["costboost", "serve", "--host", "0.0.0.0"]
