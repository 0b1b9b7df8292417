/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The agent's face to the JVM: Agent_OnAttach's options and results.
 *
 * Options: "token=TOKEN[,take=1][,walker=agct]". OnAttach checks them, starts the agent's own thread and returns
 * at once; the session begins when the memfd "jhot-TOKEN" can be found in /proc/PID/fd. Results
 * are what the attach reply shows as the return code; session/ turns them into sentences, which is
 * why numbers never change.
 */
#ifndef JHOT_WIRE_AGENT_H
#define JHOT_WIRE_AGENT_H

enum agent_result {
	AGENT_OK = 0,
	AGENT_BAD_OPTIONS = 200,
	AGENT_BUSY = 201,     /* another session is alive, see its header */
	AGENT_NO_MEMFD = 202, /* Linux too old */
	AGENT_NO_MEMORY = 203,
	AGENT_NO_THREAD = 204,
	AGENT_NO_JVMTI = 205,
};

#endif
