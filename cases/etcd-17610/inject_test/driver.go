// The key-value store of one member with one watch stream, moved step by step.
//
// Started as the program under test. Reads one JSON command a line from a named
// pipe and answers each with one JSON line on standard output. It decides
// nothing: what is written, watched, compacted and installed comes in as
// commands; what the watchers were sent is reported, response by response.
//
// Commands (a transaction is a list of operations, [key, value] or [key]):
//
//	{"do":"write","txns":[TXN]}               transactions, one revision each
//	{"do":"watch","key":K,"end":E,"rev":R}    watch on the stream, R 0: from now on
//	{"do":"compact","rev":R}
//	{"do":"install","txns":[TXN]}             a snapshot of another member with this whole history
//	{"do":"pause"}, {"do":"resume"}           the stream's reader stops taking responses
//	{"do":"events"}                           responses since the last time
package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"sync"

	"go.etcd.io/etcd/lease"
	"go.etcd.io/etcd/mvcc"
	"go.etcd.io/etcd/mvcc/backend"
	"go.etcd.io/etcd/mvcc/mvccpb"
	"go.etcd.io/etcd/pkg/traceutil"
	"go.uber.org/zap"
)

type txn [][]string

type event struct {
	Rev    int64  `json:"rev"`
	Key    string `json:"key"`
	Value  string `json:"value"`
	Delete bool   `json:"delete"`
}

type response struct {
	Watch    int64   `json:"watch"`
	Revision int64   `json:"revision"`
	Compact  int64   `json:"compact"`
	Events   []event `json:"events"`
}

func open() (mvcc.ConsistentWatchableKV, backend.Backend) {
	b, _ := backend.NewDefaultTmpBackend()
	return mvcc.New(zap.NewNop(), b, &lease.FakeLessor{}, nil, nil, mvcc.StoreConfig{}), b
}

func write(kv mvcc.KV, txns []txn) {
	for _, t := range txns {
		tx := kv.Write(traceutil.TODO())
		for _, op := range t {
			if len(op) == 2 {
				tx.Put([]byte(op[0]), []byte(op[1]), lease.NoLease)
			} else {
				tx.DeleteRange([]byte(op[0]), nil)
			}
		}
		tx.End()
	}
}

// reader takes responses off a stream, unless it is told to stop.
type reader struct {
	mu            sync.Mutex
	got           []response
	pause, resume chan struct{}
}

func (r *reader) run(in <-chan mvcc.WatchResponse) {
	for {
		select {
		case w := <-in:
			s := response{Watch: int64(w.WatchID), Revision: w.Revision, Compact: w.CompactRevision, Events: []event{}}
			for _, e := range w.Events {
				s.Events = append(s.Events, event{e.Kv.ModRevision, string(e.Kv.Key), string(e.Kv.Value), e.Type == mvccpb.DELETE})
			}
			r.mu.Lock()
			r.got = append(r.got, s)
			r.mu.Unlock()
		case <-r.pause:
			<-r.resume
		}
	}
}

func must(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, "driver:", err)
		os.Exit(3)
	}
}

func main() {
	kv, _ := open()
	stream := kv.NewWatchStream()
	r := &reader{pause: make(chan struct{}), resume: make(chan struct{})}
	go r.run(stream.Chan())

	pipe, err := os.Open(os.Args[1])
	must(err)
	in := bufio.NewScanner(pipe)
	in.Buffer(make([]byte, 1<<22), 1<<22)
	for in.Scan() {
		var q struct {
			Do       string
			Txns     []txn
			Key, End string
			Rev      int64
		}
		must(json.Unmarshal(in.Bytes(), &q))
		answer := map[string]interface{}{}
		switch q.Do {
		case "write":
			write(kv, q.Txns)
		case "watch":
			var end []byte
			if q.End != "" {
				end = []byte(q.End)
			}
			id, err := stream.Watch(0, []byte(q.Key), end, q.Rev)
			if err != nil {
				answer["error"] = err.Error()
			}
			answer["watch"] = int64(id)
		case "compact":
			done, err := kv.Compact(traceutil.TODO(), q.Rev)
			if err != nil {
				answer["error"] = err.Error()
			} else {
				<-done
			}
		case "install":
			other, b := open()
			write(other, q.Txns)
			other.Commit()
			must(other.Close())
			if err := kv.Restore(b); err != nil {
				answer["error"] = err.Error()
			}
		case "pause":
			r.pause <- struct{}{}
		case "resume":
			r.resume <- struct{}{}
		case "events":
			r.mu.Lock()
			answer["responses"] = append([]response{}, r.got...)
			r.got = nil
			r.mu.Unlock()
		}
		answer["rev"] = kv.Rev()
		line, err := json.Marshal(answer)
		must(err)
		fmt.Printf("%s\n", line)
	}
}
