#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The live view over a real SSH connection that is cut: sampling ends, nothing is left behind.
. "$(dirname "$0")/lib.sh"

sshd=$(command -v sshd || ls /usr/sbin/sshd 2>/dev/null) || skip_all "no sshd (openssh-server)"
command -v ssh >/dev/null || skip_all "no ssh"
[ "$(id -u)" != 0 ] || mkdir -p /run/sshd

ssh-keygen -q -t ed25519 -N '' -f "$T/host" && ssh-keygen -q -t ed25519 -N '' -f "$T/key"
cat >"$T/config" <<END
HostKey $T/host
AuthorizedKeysFile $T/key.pub
PidFile none
UsePAM no
StrictModes no
PasswordAuthentication no
PermitRootLogin yes
ListenAddress 127.0.0.1
END

# A free port: the first of some that sshd can listen on.
for ((port = 20000 + $$ % 20000; ; port++)); do
	"$sshd" -D -e -f "$T/config" -p $port 2>"$T/sshd.log" &
	SSHD=$!
	wait_for 10 grep -qE 'Server listening|Cannot bind|error' "$T/sshd.log"
	grep -q 'Server listening' "$T/sshd.log" && break
	kill $SSHD 2>/dev/null
	wait $SSHD 2>/dev/null
	[ $port -lt $((20000 + $$ % 20000 + 20)) ] || { diag_file "$T/sshd.log"; skip_all "sshd does not start"; }
done
trap 'kill $SSHD 2>/dev/null; test_end' EXIT

# over_ssh COMMAND: runs it in the background over ssh, with a remote terminal of 80x24; SSH is the client's pid
over_ssh() {
	ssh -tt -F none -p $port -i "$T/key" -o StrictHostKeyChecking=no -o UserKnownHostsFile=/dev/null \
		-o LogLevel=ERROR 127.0.0.1 "stty rows 24 cols 80; export TERM=xterm-256color LC_ALL=C.UTF-8; $1" \
		<"$T/keys" >"$T/screen" 2>"$T/ssh.err" &
	SSH=$!
}

mkfifo "$T/keys"
exec {keys}<>"$T/keys"

jvm_start $CALM_JVM Known shares
"$JHOT" record -d 0.1 -o "$T/first.collapsed" "$JVM" >/dev/null 2>&1
wait_for 20 quiet "$JVM"
litter "$JVM" >"$T/before"

over_ssh "echo \$\$ >'$T/remote'; exec '$JHOT' $JVM"
# The view sends only changed cells, so a name that replaces a similar one in its row never appears completely.
ok "the live view over ssh shows the hot methods" wait_for 30 grep -qE 'Known\.known(Sixty|Thirty|Ten)' "$T/screen" || {
	diag_file "$T/ssh.err"
	diag_file "$T/screen"
}
ok "the JVM is sampled while the ssh connection exists" sampling "$JVM"
remote=$(cat "$T/remote")
ok "jhot runs on the remote side" alive "$remote"

# A connection that is cut: the client is killed without closing it.
kill -KILL $SSH
wait $SSH 2>/dev/null
becomes_quiet "cutting the connection ends sampling" "$JVM"
ok "cutting the connection ends jhot" wait_for 20 gone "$remote"
litter "$JVM" >"$T/after"
same "cutting the connection leaves nothing in the JVM" "$T/after" "$T/before"

: >"$T/screen"
over_ssh "'$JHOT' $JVM; echo status=\$?"
ok "the live view over a new connection shows the hot methods" wait_for 30 grep -qE 'Known\.known(Sixty|Thirty|Ten)' "$T/screen"
printf q >&"$keys"
ok "key q exits with 0 over ssh" wait_for 20 grep -q status=0 "$T/screen" || diag_file "$T/screen"
becomes_quiet "sampling ends after q over ssh" "$JVM"
"$JHOT" top --ssh "ssh -F none -p $port -i $T/key -o StrictHostKeyChecking=no -o UserKnownHostsFile=/dev/null -o LogLevel=ERROR" \
	-b -n 5 "127.0.0.1:$JVM" >"$T/screen" 2>"$T/ssh.err" </dev/null
ok "HOST:PID shows the hot methods of a JVM behind ssh" grep -qE 'Known\.known(Sixty|Thirty|Ten)' "$T/screen" || diag_file "$T/ssh.err"
becomes_quiet "sampling ends after HOST:PID" "$JVM"
jvm_end
is "the JVM writes only its own lines to stdout" "$(sed 's/^sum .*/sum/' "$T/jvm0.out" | tr '\n' ' ')" "ready sum "
done_testing
