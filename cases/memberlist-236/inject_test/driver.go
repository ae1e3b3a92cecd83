// Two members of one group, joined by a network inside this process.
//
// Started as the program under test. Reads one JSON command a line from a named
// pipe and answers each with one JSON line on standard output. It decides
// nothing: what one member broadcasts, and which packets a stranger sends, comes
// in as commands; what went over the wire and what the other member was told is
// reported. The network loses nothing and reorders nothing.
//
// Commands:
//
//	{"do":"send","values":[HEX]}   broadcast these at A
//	{"do":"state"}                 how many A still has to send, and what B got since the last time
//	{"do":"packets"}               packets from A to B since the last time, as hexadecimal digits
//	{"do":"inject","packet":HEX}   a packet to B from somebody else
//	{"do":"members"}               how many members each of the two knows
package main

import (
	"bufio"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"sync"
	"time"

	"github.com/hashicorp/memberlist"
)

// place is one member's end of the network.
type place struct {
	ip      net.IP
	packets chan *memberlist.Packet
	streams chan net.Conn
	all     map[string]*place

	mu   sync.Mutex
	sent []string
}

func (p *place) address() string { return net.JoinHostPort(p.ip.String(), "7946") }

func (p *place) FinalAdvertiseAddr(string, int) (net.IP, int, error) { return p.ip, 7946, nil }
func (p *place) PacketCh() <-chan *memberlist.Packet                 { return p.packets }
func (p *place) StreamCh() <-chan net.Conn                           { return p.streams }
func (p *place) Shutdown() error                                     { return nil }

func (p *place) WriteTo(b []byte, to string) (time.Time, error) {
	other, ok := p.all[to]
	if !ok {
		return time.Time{}, errors.New("no route to " + to)
	}
	if len(b) > 65507 {
		return time.Time{}, errors.New("message too long")
	}
	p.mu.Lock()
	p.sent = append(p.sent, hex.EncodeToString(b))
	p.mu.Unlock()
	other.deliver(b, p.ip)
	return time.Now(), nil
}

func (p *place) deliver(b []byte, from net.IP) {
	p.packets <- &memberlist.Packet{Buf: append([]byte(nil), b...), From: &net.UDPAddr{IP: from, Port: 7946}, Timestamp: time.Now()}
}

func (p *place) DialTimeout(to string, _ time.Duration) (net.Conn, error) {
	other, ok := p.all[to]
	if !ok {
		return nil, errors.New("no route to " + to)
	}
	here, there := net.Pipe()
	other.streams <- there
	return here, nil
}

// messages is the user's side of a member.
type messages struct {
	mu  sync.Mutex
	out [][]byte
	got []string
}

func (m *messages) NodeMeta(int) []byte           { return nil }
func (m *messages) LocalState(bool) []byte        { return nil }
func (m *messages) MergeRemoteState([]byte, bool) {}

func (m *messages) NotifyMsg(b []byte) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.got = append(m.got, hex.EncodeToString(b))
}

func (m *messages) GetBroadcasts(overhead, limit int) [][]byte {
	m.mu.Lock()
	defer m.mu.Unlock()
	n := 0
	for n < len(m.out) && overhead+len(m.out[n]) <= limit {
		limit -= overhead + len(m.out[n])
		n++
	}
	now := m.out[:n:n]
	m.out = m.out[n:]
	return now
}

func must(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, "driver:", err)
		os.Exit(3)
	}
}

func member(name string, p *place, m *messages) *memberlist.Memberlist {
	c := memberlist.DefaultLANConfig()
	c.Name = name
	c.Transport = p
	c.AdvertiseAddr, c.AdvertisePort, c.BindPort = p.ip.String(), 7946, 7946
	c.UDPBufferSize = 16384
	c.GossipInterval = 50 * time.Millisecond
	// A slow machine makes nobody a suspect, and every broadcast goes by gossip.
	c.ProbeInterval, c.PushPullInterval = time.Hour, 0
	c.HandoffQueueDepth = 16384
	c.EnableCompression = false
	c.Delegate = m
	c.LogOutput = os.Stderr
	l, err := memberlist.Create(c)
	must(err)
	return l
}

func main() {
	all := map[string]*place{}
	open := func(last byte) *place {
		p := &place{ip: net.IPv4(10, 0, 0, last), packets: make(chan *memberlist.Packet, 4096), streams: make(chan net.Conn, 16), all: all}
		all[p.address()] = p
		return p
	}
	a, b := open(1), open(2)
	ma, mb := &messages{}, &messages{}
	la, lb := member("A", a, ma), member("B", b, mb)
	_, err := lb.Join([]string{"A/" + a.address()})
	must(err)

	pipe, err := os.Open(os.Args[1])
	must(err)
	in := bufio.NewScanner(pipe)
	in.Buffer(make([]byte, 1<<20), 1<<20)
	for in.Scan() {
		var q struct {
			Do     string
			Values []string
			Packet string
		}
		must(json.Unmarshal(in.Bytes(), &q))
		answer := map[string]interface{}{}
		switch q.Do {
		case "send":
			ma.mu.Lock()
			for _, v := range q.Values {
				raw, err := hex.DecodeString(v)
				must(err)
				ma.out = append(ma.out, raw)
			}
			ma.mu.Unlock()
		case "state":
			ma.mu.Lock()
			answer["queued"] = len(ma.out)
			ma.mu.Unlock()
			mb.mu.Lock()
			answer["got"] = append([]string{}, mb.got...)
			mb.got = nil
			mb.mu.Unlock()
		case "packets":
			a.mu.Lock()
			answer["packets"] = append([]string{}, a.sent...)
			a.sent = nil
			a.mu.Unlock()
		case "inject":
			raw, err := hex.DecodeString(q.Packet)
			must(err)
			b.deliver(raw, net.IPv4(10, 0, 0, 9))
		case "members":
			answer["members"] = []int{la.NumMembers(), lb.NumMembers()}
		}
		line, err := json.Marshal(answer)
		must(err)
		fmt.Printf("%s\n", line)
	}
}
