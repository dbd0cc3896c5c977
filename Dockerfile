# condenser alone: a static program and the certificates that stores are trusted by.
#   cargo build --locked --profile dist --target x86_64-unknown-linux-musl
#   mkdir -p target/image/amd64 && cp target/x86_64-unknown-linux-musl/dist/condenser target/image/amd64/
#   docker build --build-arg TARGETARCH=amd64 --tag condenser .
#   docker run --rm -v "$PWD:/data" condenser compress logs -o run
FROM alpine:3 AS certificates
RUN apk add --no-cache ca-certificates

FROM scratch
ARG TARGETARCH
COPY --from=certificates /etc/ssl/certs/ca-certificates.crt /etc/ssl/certs/
COPY --chmod=755 target/image/${TARGETARCH}/condenser /bin/condenser
WORKDIR /data
ENTRYPOINT ["/bin/condenser"]
