import type { Command } from 'commander'
import { hubVariables, targetIn } from '../hub-address.ts'
import { forwardMcp } from '../mcp/forward-mcp.ts'
import { example } from '../output.ts'

export function addMcpCommand(program: Command): void {
  program
    .command('mcp')
    .description(
      'Serve the Model Context Protocol on stdin and stdout for an AI agent on this machine, by forwarding to a Hub. ' +
        `Reads ${hubVariables.join(', ')}: the address of the Hub, and a service account of the tenant.`,
    )
    .addHelpText('after', example('mcp'))
    .action(() => forwardMcp(targetIn(process.env)))
}
