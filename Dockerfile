# The product's image: the site, its workers and the command line.
#
#   docker build -t faultboard .
#
# The run-time stage stands on the cases' base image (docker/build.sh makes it),
# so one base is kept up to date. The target `packed` takes a folder `dist/`
# that was built before, where no image with a Rust toolchain can be pulled.
ARG BASE=faultboard/base:1
ARG RUST=rust:1.95-bookworm

FROM ${BASE} AS runtime
RUN set -eu; \
    groupadd -g 10001 faultboard; \
    useradd -u 10001 -g 10001 -d /var/lib/faultboard -M -s /usr/sbin/nologin faultboard; \
    install -d -o faultboard -g faultboard -m 0750 /var/lib/faultboard
COPY docker/product/entry.sh /usr/local/bin/faultboard-entry
WORKDIR /opt/faultboard
ENV PATH=/opt/faultboard/bin:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin \
    FAULTBOARD_LISTEN=0.0.0.0:3000 \
    FAULTBOARD_DATA_DIR=/var/lib/faultboard \
    FAULTBOARD_CASES_DIR=/opt/faultboard/cases \
    FAULTBOARD_SOLUTIONS_DIR=/opt/faultboard/cases-solution \
    FAULTBOARD_SITE_ROOT=/opt/faultboard/site \
    FAULTBOARD_STATIC_DIR=/opt/faultboard/static \
    FAULTBOARD_LOG_FORMAT=json
VOLUME /var/lib/faultboard
EXPOSE 3000
HEALTHCHECK --interval=10s --timeout=5s --start-period=60s --retries=3 \
    CMD ["curl", "--fail", "--silent", "--show-error", "--max-time", "4", "--output", "/dev/null", "http://127.0.0.1:3000/healthz"]
STOPSIGNAL SIGTERM
USER faultboard
ENTRYPOINT ["faultboard-entry"]
CMD ["serve"]

FROM runtime AS packed
COPY --chown=root:root dist/ /opt/faultboard/

FROM ${RUST} AS build
WORKDIR /src
COPY . .
RUN set -eu; \
    cargo xtask wasm; \
    cargo build --locked --release --package faultboard-server; \
    install -D -m 0755 target/release/faultboard dist/bin/faultboard; \
    cp -r target/site dist/site; \
    cp -r static cases cases-solution samples dist/

FROM runtime
COPY --from=build --chown=root:root /src/dist/ /opt/faultboard/
