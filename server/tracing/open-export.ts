import type { Config } from '../config.ts'
import { useTracer } from './current-work.ts'

/** The running export of traces and logs. */
export interface Export {
  readonly writeLog: ((line: string) => void) | undefined
  stop(): Promise<void>
}

/**
 * Starts the export of traces and logs if the configuration asks for it, for the whole process. Loads the SDK only
 * then.
 */
export async function openExport(config: Pick<Config, 'version' | 'openTelemetry'>): Promise<Export> {
  const { traces, logs } = config.openTelemetry
  if (!traces && !logs) return { writeLog: undefined, stop: async () => {} }
  const { startOpenTelemetry } = await import('./open-telemetry.ts')
  const started = startOpenTelemetry(config)
  useTracer(started.tracer)
  return {
    writeLog: started.writeLog,
    stop: async () => {
      useTracer(undefined)
      await started.stop()
    },
  }
}
