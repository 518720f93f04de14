dpid() { timeout 20 wfs status ${1:-one} --json | grep -o '"driver":{"pid":[0-9]*' | grep -o '[0-9]*$'; }
killtree() { local k; for k in $(ps -o pid= --ppid $1); do killtree $k; done; kill -9 $1 2>/dev/null; }
