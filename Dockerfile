# One image for all processes: the command is `turnwire` and its words, `run` (everything, with its own Postgres and Valkey) by
# default. Runs as an ordinary user, with a read-only root: only /data and /tmp are written. See docs/install.md.
ARG BASE=docker.io/library/python:3.11-slim-bookworm

FROM ${BASE} AS build
WORKDIR /src
RUN python3 -m venv /opt/turnwire
# First what changes seldom.
COPY requirements-production.lock ./
RUN /opt/turnwire/bin/python -m pip install --no-cache-dir --require-hashes -r requirements-production.lock
COPY . .
RUN /opt/turnwire/bin/python -m pip install --no-cache-dir --no-deps .

FROM ${BASE}
# For OCR: --build-arg PACKAGES="tesseract-ocr tesseract-ocr-deu"
ARG PACKAGES=""
# hadolint ignore=DL3008,SC2086
RUN if [ -n "${PACKAGES}" ]; then \
        apt-get update && apt-get install -y --no-install-recommends ${PACKAGES} && rm -rf /var/lib/apt/lists/*; \
    fi \
    && useradd --uid 10001 --user-group --home-dir /data --no-create-home --shell /usr/sbin/nologin turnwire \
    && install -d -m 700 -o turnwire -g turnwire /data
COPY --from=build /opt/turnwire /opt/turnwire
ENV PATH=/opt/turnwire/bin:$PATH DATA_DIR=/data HOST=0.0.0.0 PYTHONDONTWRITEBYTECODE=1
USER 10001:10001
WORKDIR /data
VOLUME /data
EXPOSE 8000
ENTRYPOINT ["turnwire"]
CMD ["run"]
