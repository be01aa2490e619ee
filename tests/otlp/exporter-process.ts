import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import type { Attributes } from './otlp-bodies.ts'

const run = promisify(execFile)

/** Runs shell lines and returns the variables of their environment, with those that they export. */
export async function exportedBy(lines: string, given: Record<string, string> = {}): Promise<Record<string, string>> {
  const print = `${JSON.stringify(process.execPath)} -p 'JSON.stringify(process.env)'`
  const { stdout } = await run('sh', ['-c', `${lines}\n${print}`], { env: { PATH: process.env.PATH, ...given } })
  return JSON.parse(stdout)
}

/** Reads a list such as that of OTEL_EXPORTER_OTLP_HEADERS: `a=1,b=%20`. */
export function pairsOf(list = ''): Record<string, string> {
  return Object.fromEntries(
    list.split(',').map((pair) => {
      const at = pair.indexOf('=')
      return [pair.slice(0, at), decodeURIComponent(pair.slice(at + 1))]
    }),
  )
}

/** Sends a span with the unmodified SDK of OpenTelemetry, in a process that has nothing but these variables. */
export async function sendSpan(variables: Record<string, string>, attributes: Attributes): Promise<void> {
  const script = `
    import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-proto'
    import { detectResources, envDetector } from '@opentelemetry/resources'
    import { BatchSpanProcessor, TracerProvider } from '@opentelemetry/sdk-trace'
    const resource = detectResources({ detectors: [envDetector] })
    const exporter = new OTLPTraceExporter()
    const provider = new TracerProvider({ resource, spanProcessors: [new BatchSpanProcessor({ exporter })] })
    provider.getTracer('test').startSpan('chat', { attributes: ${JSON.stringify(attributes)} }).end()
    await provider.shutdown()`
  await runModule(script, variables)
}

/** Runs a module in the checkout, so that it finds the installed packages. Rejects if it fails. */
export async function runModule(script: string, env: Record<string, string>): Promise<string> {
  const { stdout } = await run(process.execPath, ['--input-type=module', '-e', script], {
    cwd: new URL('../..', import.meta.url),
    env: { PATH: process.env.PATH, ...env },
  })
  return stdout
}
