import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { resolve } from 'node:path'
import type { ConnectorStatus } from '../../cli/connector/connector-status.ts'

const main = resolve(import.meta.dirname, '../../cli/main.ts')

/** `hub connector` as a process of its own, on a port that the system chose. */
export interface ConnectorProcess {
  readonly url: string
  output(): string
  /** SIGKILL. */
  kill(): Promise<void>
  /** SIGTERM; answers the exit code. */
  stop(): Promise<number | null>
}

export async function startConnectorProcess(options: {
  hubUrl: string
  tenant: string
  spool: string
  clientId: string
  clientSecret: string
}): Promise<ConnectorProcess> {
  const { hubUrl, tenant, spool, clientId, clientSecret } = options
  const args = ['--hub-url', hubUrl, '--tenant', tenant, '--spool', spool, '--port', '0', '--retry-max-seconds', '1']
  const child = spawn(process.execPath, [main, 'connector', ...args], {
    env: {
      PATH: process.env.PATH,
      HUB_CONNECTOR_CLIENT_ID: clientId,
      HUB_CONNECTOR_CLIENT_SECRET: clientSecret,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const ended = once(child, 'close')
  let output = ''
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => {
      output += text
    })
  }
  return {
    url: await addressOf(child, () => output),
    output: () => output,
    async kill() {
      child.kill('SIGKILL')
      await ended
    },
    async stop() {
      child.kill('SIGTERM')
      await ended
      return child.exitCode
    },
  }
}

/** The `Connector: <url>` that it prints. */
function addressOf(child: ChildProcess, output: () => string): Promise<string> {
  return new Promise((found, failed) => {
    const listen = () => {
      const url = /^Connector: (\S+)$/m.exec(output())?.[1]
      if (url !== undefined) found(url)
    }
    child.stdout!.on('data', listen)
    child.once('close', () => failed(new Error(`the connector ended:\n${output()}`)))
  })
}

export async function connectorStatusOf(url: string): Promise<ConnectorStatus> {
  return (await (await fetch(`${url}/status`)).json()) as ConnectorStatus
}
