# condenser alone: a static program, the certificates that stores are trusted by, and a folder for what is held for a while.
#   cargo build --locked --profile dist --target x86_64-unknown-linux-musl
#   mkdir -p target/image/amd64 && cp target/x86_64-unknown-linux-musl/dist/condenser target/image/amd64/
#   docker build --build-arg TARGETARCH=amd64 --tag condenser .
#   docker run --rm --user "$(id -u):$(id -g)" -v "$PWD:/data" condenser compress logs -o run
FROM alpine:3 AS certificates
RUN apk add --no-cache ca-certificates && mkdir -p /made && mkdir -m 1777 /made/tmp

FROM scratch
ARG TARGETARCH
COPY --from=certificates /etc/ssl/certs/ca-certificates.crt /etc/ssl/certs/
COPY --from=certificates /made/ /
COPY --chmod=755 target/image/${TARGETARCH}/condenser /bin/condenser
WORKDIR /data
ENTRYPOINT ["/bin/condenser"]
