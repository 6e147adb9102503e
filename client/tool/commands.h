/* SPDX-License-Identifier: PostgreSQL */
/*-------------------------------------------------------------------------
 *
 * commands.h
 *	  The program's commands.  Each returns an exit code, or ends the program.
 *
 *-------------------------------------------------------------------------
 */
#ifndef COMMANDS_H
#define COMMANDS_H

#include "options.h"

extern int	command_ask(const Options *options);
extern int	command_build(const Options *options);
extern int	command_info(const Options *options);
extern int	command_key(const Options *options);

#endif							/* COMMANDS_H */
