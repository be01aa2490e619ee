import type { Command } from 'commander'
import { StartupError } from '../../server/startup-error.ts'
import { exposesSecrets } from '../hub-address.ts'
import { forwardMcp } from '../mcp/forward-mcp.ts'
import { example } from '../output.ts'

const names = ['HUB_URL', 'HUB_TENANT', 'HUB_CLIENT_ID', 'HUB_CLIENT_SECRET'] as const

export function addMcpCommand(program: Command): void {
  program
    .command('mcp')
    .description(
      'Serve the Model Context Protocol on stdin and stdout for an AI agent on this machine, by forwarding to a Hub. ' +
        `Reads ${names.join(', ')}: the address of the Hub, and a service account of the tenant.`,
    )
    .addHelpText('after', example('mcp'))
    .action(() => forwardMcp(targetIn(process.env)))
}

/** Returns the Hub and the account that the environment names. Throws StartupError with the variables to set. */
function targetIn(environment: NodeJS.ProcessEnv) {
  const missing = names.filter((name) => !environment[name])
  if (missing.length > 0) {
    throw new StartupError(
      `${missing.join(', ')} ${missing.length === 1 ? 'is' : 'are'} not set.`,
      `Set ${names.join(', ')} in the configuration of the agent. Create an account with: hub service-account create`,
    )
  }
  const [baseUrl = '', tenant = '', clientId = '', clientSecret = ''] = names.map((name) => environment[name])
  if (!URL.canParse(baseUrl) || !/^https?:$/.test(new URL(baseUrl).protocol)) {
    throw new StartupError(`HUB_URL is not an address: ${baseUrl}`, 'Set it to one such as https://hub.example.com.')
  }
  if (exposesSecrets(baseUrl)) {
    throw new StartupError(`HUB_URL is "${baseUrl}", and the secret would cross the network in clear.`, 'Use https.')
  }
  return { baseUrl: baseUrl.replace(/\/+$/, ''), tenant, clientId, clientSecret }
}
