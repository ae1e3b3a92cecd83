// One leader, and a network on which servers have addresses.
//
// Started as the program under test. Reads one JSON command a line from a named
// pipe and answers each with one JSON line on standard output. It decides
// nothing: who lives at which address and what is asked of the leader comes in
// as commands; what the servers were sent is reported. The other servers are
// small: they grant votes, and take entries as the protocol says.
//
// Commands:
//
//	{"do":"lead"}                                  make the node stand for election
//	{"do":"place","server":S,"address":A}          S now lives at A
//	{"do":"clear","address":A}                     nobody lives at A any more
//	{"do":"add","server":S,"address":A}            register S at A as a voter
//	{"do":"remove","server":S}                     take S out of the configuration
//	{"do":"apply","data":D}                        write a value
//	{"do":"verify"}                                ask the leader whether it still leads
//	{"do":"values","server":S}                     the values that S holds
//	{"do":"traffic"}                               requests since the last time, by receiver and address
package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"sync"
	"time"

	hclog "github.com/hashicorp/go-hclog"
	"github.com/hashicorp/raft"
)

// patience is for what needs answers of other servers.
const patience = 25 * time.Second

// network is the leader's transport.
type network struct {
	in chan raft.RPC

	mu      sync.Mutex
	lives   map[raft.ServerAddress]raft.ServerID
	logs    map[raft.ServerID][]raft.Log
	traffic map[string]int
}

func (n *network) Consumer() <-chan raft.RPC              { return n.in }
func (n *network) LocalAddr() raft.ServerAddress          { return "a" }
func (n *network) SetHeartbeatHandler(func(raft.RPC))     {}
func (n *network) DecodePeer(b []byte) raft.ServerAddress { return raft.ServerAddress(b) }
func (n *network) EncodePeer(_ raft.ServerID, a raft.ServerAddress) []byte {
	return []byte(a)
}

// reach counts the request, and says whether it meets the one it is for.
// The lock is held by the caller.
func (n *network) reach(id raft.ServerID, at raft.ServerAddress) error {
	n.traffic[string(id)+" "+string(at)]++
	switch n.lives[at] {
	case id:
		return nil
	case "":
		return errors.New("connection refused")
	}
	return errors.New("another server answers there")
}

func (n *network) AppendEntriesPipeline(raft.ServerID, raft.ServerAddress) (raft.AppendPipeline, error) {
	return nil, raft.ErrPipelineReplicationNotSupported
}

func (n *network) AppendEntries(id raft.ServerID, at raft.ServerAddress, q *raft.AppendEntriesRequest, r *raft.AppendEntriesResponse) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	if err := n.reach(id, at); err != nil {
		return err
	}
	log := n.logs[id]
	*r = raft.AppendEntriesResponse{RPCHeader: q.RPCHeader, Term: q.Term, LastLog: uint64(len(log)), NoRetryBackoff: true}
	if q.PrevLogEntry > uint64(len(log)) || q.PrevLogEntry > 0 && log[q.PrevLogEntry-1].Term != q.PrevLogTerm {
		return nil
	}
	for i, e := range q.Entries {
		if e.Index != q.PrevLogEntry+uint64(i)+1 {
			return errors.New("entries out of order")
		}
		if e.Index > uint64(len(log)) || log[e.Index-1].Term != e.Term {
			log = append(log[:e.Index-1:e.Index-1], *e)
		}
	}
	n.logs[id] = log
	r.LastLog = uint64(len(log))
	r.Success = true
	return nil
}

func (n *network) RequestVote(id raft.ServerID, at raft.ServerAddress, q *raft.RequestVoteRequest, r *raft.RequestVoteResponse) error {
	n.mu.Lock()
	defer n.mu.Unlock()
	if err := n.reach(id, at); err != nil {
		return err
	}
	*r = raft.RequestVoteResponse{RPCHeader: q.RPCHeader, Term: q.Term, Granted: true}
	return nil
}

func (n *network) InstallSnapshot(raft.ServerID, raft.ServerAddress, *raft.InstallSnapshotRequest, *raft.InstallSnapshotResponse, io.Reader) error {
	return errors.New("not offered")
}

func (n *network) TimeoutNow(raft.ServerID, raft.ServerAddress, *raft.TimeoutNowRequest, *raft.TimeoutNowResponse) error {
	return errors.New("not offered")
}

type machine struct{}

func (machine) Apply(*raft.Log) interface{}         { return nil }
func (machine) Snapshot() (raft.FSMSnapshot, error) { return nil, errors.New("none") }
func (machine) Restore(io.ReadCloser) error         { return nil }

type command struct{ Do, Server, Address, Data string }

type answer map[string]interface{}

func must(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, "driver:", err)
		os.Exit(3)
	}
}

func main() {
	c := raft.DefaultConfig()
	c.LocalID = "A"
	// Nobody loses leadership because the machine is slow.
	c.HeartbeatTimeout = time.Hour
	c.ElectionTimeout = time.Hour
	c.LeaderLeaseTimeout = time.Hour
	c.CommitTimeout = 20 * time.Millisecond
	c.Logger = hclog.New(&hclog.LoggerOptions{Output: os.Stderr})

	n := &network{
		in:      make(chan raft.RPC),
		lives:   map[raft.ServerAddress]raft.ServerID{"b": "B", "c": "C"},
		logs:    map[raft.ServerID][]raft.Log{},
		traffic: map[string]int{},
	}
	store := raft.NewInmemStore()
	snaps := raft.NewInmemSnapshotStore()
	servers := []raft.Server{{ID: "A", Address: "a"}, {ID: "B", Address: "b"}, {ID: "C", Address: "c"}}
	must(raft.BootstrapCluster(c, store, store, snaps, n, raft.Configuration{Servers: servers}))
	r, err := raft.NewRaft(c, machine{}, store, store, snaps, n)
	must(err)

	pipe, err := os.Open(os.Args[1])
	must(err)
	in := bufio.NewScanner(pipe)
	for in.Scan() {
		var q command
		must(json.Unmarshal(in.Bytes(), &q))
		line, err := json.Marshal(run(&q, n, r))
		must(err)
		fmt.Printf("%s\n", line)
	}
}

// await says how a future ended, or that it did not.
func await(f raft.Future) answer {
	end := make(chan error, 1)
	go func() { end <- f.Error() }()
	select {
	case err := <-end:
		if err != nil {
			return answer{"ok": false, "error": err.Error()}
		}
		return answer{"ok": true}
	case <-time.After(patience):
		return answer{"ok": false, "error": "no end"}
	}
}

func run(q *command, n *network, r *raft.Raft) answer {
	id, at := raft.ServerID(q.Server), raft.ServerAddress(q.Address)
	switch q.Do {
	case "lead":
		back := make(chan raft.RPCResponse, 1)
		n.in <- raft.RPC{Command: &raft.TimeoutNowRequest{RPCHeader: raft.RPCHeader{ProtocolVersion: raft.ProtocolVersionMax}}, RespChan: back}
		<-back
		for end := time.Now().Add(patience); r.State() != raft.Leader && time.Now().Before(end); {
			time.Sleep(10 * time.Millisecond)
		}
		return answer{"ok": r.State() == raft.Leader}
	case "add":
		return await(r.AddVoter(id, at, 0, patience))
	case "remove":
		return await(r.RemoveServer(id, 0, patience))
	case "apply":
		return await(r.Apply([]byte(q.Data), patience))
	case "verify":
		return await(r.VerifyLeader())
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	switch q.Do {
	case "place":
		n.lives[at] = id
	case "clear":
		delete(n.lives, at)
	case "values":
		values := []string{}
		for _, l := range n.logs[id] {
			if l.Type == raft.LogCommand {
				values = append(values, string(l.Data))
			}
		}
		return answer{"values": values}
	case "traffic":
		t := n.traffic
		n.traffic = map[string]int{}
		return answer{"traffic": t}
	}
	return answer{}
}
