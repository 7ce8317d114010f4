"""A server of torr.Echo by grpcio, which adds 1 to the number of each message and sends it back.

With the text "fail" a call ends with NOT_FOUND. On SIGTERM it prints how many calls and messages
it has had.

    server.py DESCRIPTOR ADDRESS [CERTIFICATE KEY]
"""

from __future__ import annotations

import json
import signal
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import grpc
from google.protobuf import descriptor_pb2, descriptor_pool, message_factory

FILE = descriptor_pb2.FileDescriptorProto.FromString(Path(sys.argv[1]).read_bytes())
POOL = descriptor_pool.DescriptorPool()
POOL.Add(FILE)
MESSAGE = message_factory.GetMessageClass(POOL.FindMessageTypeByName("torr.EchoMessage"))
SEEN = {"calls": 0, "messages": 0}


def taken(message, context):
    """Count a message, and add 1 to its number."""
    SEEN["messages"] += 1
    if message.text == "fail":
        context.abort(grpc.StatusCode.NOT_FOUND, "no such text: ü")
    message.number += 1
    return message


def unary(message, context):
    SEEN["calls"] += 1
    return taken(message, context)


def server_stream(message, context):
    answer = unary(message, context)
    for _ in range(3):
        yield answer


def client_stream(messages, context):
    SEEN["calls"] += 1
    return [taken(message, context) for message in messages][-1]


def bidirectional(messages, context):
    SEEN["calls"] += 1
    for message in messages:
        yield taken(message, context)


def main():
    types = {"request_deserializer": MESSAGE.FromString}
    types["response_serializer"] = MESSAGE.SerializeToString
    methods = {
        "Unary": grpc.unary_unary_rpc_method_handler(unary, **types),
        "ServerStream": grpc.unary_stream_rpc_method_handler(server_stream, **types),
        "ClientStream": grpc.stream_unary_rpc_method_handler(client_stream, **types),
        "Bidirectional": grpc.stream_stream_rpc_method_handler(bidirectional, **types),
    }
    # One thread, so that the counts need no lock.
    server = grpc.server(ThreadPoolExecutor(1))
    service = grpc.method_handlers_generic_handler("torr.Echo", methods)
    server.add_generic_rpc_handlers((service,))
    address, files = sys.argv[2], sys.argv[3:]
    if files:
        certificate, key = (Path(file).read_bytes() for file in files)
        server.add_secure_port(address, grpc.ssl_server_credentials([(key, certificate)]))
    else:
        server.add_insecure_port(address)
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTERM})
    server.start()
    signal.sigwait({signal.SIGTERM})
    server.stop(0).wait()
    sys.stdout.write(json.dumps(SEEN))


if __name__ == "__main__":
    main()
