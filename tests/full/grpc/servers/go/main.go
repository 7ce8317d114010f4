// A server of torr.Echo by grpc-go: it reads each message, adds 1 to its number, and sends it back.
// With the text "fail" a call ends with NOT_FOUND. On SIGTERM it prints how many calls and messages it
// has had.
//
//	server DESCRIPTOR ADDRESS [CERTIFICATE KEY]
package main

import (
	"context"
	"fmt"
	"io"
	"log"
	"net"
	"os"
	"os/signal"
	"sync/atomic"
	"syscall"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials"
	_ "google.golang.org/grpc/encoding/gzip"
	"google.golang.org/grpc/reflection"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protodesc"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"
	"google.golang.org/protobuf/types/descriptorpb"
	"google.golang.org/protobuf/types/dynamicpb"
)

var (
	kind            protoreflect.MessageDescriptor
	calls, messages atomic.Int64
)

func take(message *dynamicpb.Message) error {
	messages.Add(1)
	fields := kind.Fields()
	if message.Get(fields.ByName("text")).String() == "fail" {
		return status.Error(codes.NotFound, "no such text: ü")
	}
	number := fields.ByName("number")
	message.Set(number, protoreflect.ValueOfInt64(message.Get(number).Int()+1))
	return nil
}

func unary(_ any, _ context.Context, decode func(any) error, _ grpc.UnaryServerInterceptor) (any, error) {
	calls.Add(1)
	message := dynamicpb.NewMessage(kind)
	if err := decode(message); err != nil {
		return nil, err
	}
	return message, take(message)
}

// Messages are sent back as `each` says: after each one, or the last one so many times at the end.
func stream(each bool, copies int) grpc.StreamHandler {
	return func(_ any, stream grpc.ServerStream) error {
		calls.Add(1)
		last := dynamicpb.NewMessage(kind)
		for {
			message := dynamicpb.NewMessage(kind)
			err := stream.RecvMsg(message)
			if err == io.EOF {
				break
			}
			if err == nil {
				err = take(message)
			}
			if err == nil && each {
				err = stream.SendMsg(message)
			}
			if err != nil {
				return err
			}
			last = message
		}
		for range copies {
			if err := stream.SendMsg(last); err != nil {
				return err
			}
		}
		return nil
	}
}

func main() {
	described, err := os.ReadFile(os.Args[1])
	check(err)
	file := &descriptorpb.FileDescriptorProto{}
	check(proto.Unmarshal(described, file))
	built, err := protodesc.NewFile(file, protoregistry.GlobalFiles)
	check(err)
	check(protoregistry.GlobalFiles.RegisterFile(built))
	kind = built.Messages().ByName("EchoMessage")

	var options []grpc.ServerOption
	if len(os.Args) > 3 {
		secure, err := credentials.NewServerTLSFromFile(os.Args[3], os.Args[4])
		check(err)
		options = append(options, grpc.Creds(secure))
	}
	server := grpc.NewServer(options...)
	server.RegisterService(&grpc.ServiceDesc{
		ServiceName: "torr.Echo",
		Metadata:    "echo.proto",
		Methods:     []grpc.MethodDesc{{MethodName: "Unary", Handler: unary}},
		Streams: []grpc.StreamDesc{
			{StreamName: "ServerStream", ServerStreams: true, Handler: stream(false, 3)},
			{StreamName: "ClientStream", ClientStreams: true, Handler: stream(false, 1)},
			{StreamName: "Bidirectional", ServerStreams: true, ClientStreams: true, Handler: stream(true, 0)},
		},
	}, nil)
	reflection.Register(server)
	listener, err := net.Listen("tcp", os.Args[2])
	check(err)
	stop := make(chan os.Signal, 1)
	signal.Notify(stop, syscall.SIGTERM)
	go func() {
		<-stop
		server.Stop()
	}()
	check(server.Serve(listener))
	fmt.Printf("{\"calls\": %d, \"messages\": %d}\n", calls.Load(), messages.Load())
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
