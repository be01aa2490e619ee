import type { SettingReader } from './setting-reader.ts'

const endpoint = 'OTEL_EXPORTER_OTLP_ENDPOINT'
const protocol = 'OTEL_EXPORTER_OTLP_PROTOCOL'

const samplers = ['always_on', 'always_off', 'traceidratio'] as const
const ofParents = ['parentbased_always_on', 'parentbased_always_off', 'parentbased_traceidratio'] as const

interface OpenTelemetrySettings {
  readonly traces: boolean
  readonly logs: boolean
  /** The share of new traces that are recorded, and whether a caller decides about the traces that it began. */
  readonly sampling: { readonly ratio: number; readonly byParent: boolean }
}

/**
 * Reads which signals are exported, by the variables of the OpenTelemetry specification. The SDK reads the addresses,
 * headers and timeouts itself.
 */
export function readOpenTelemetry(reader: SettingReader): OpenTelemetrySettings {
  const isOff = reader.text('OTEL_SDK_DISABLED')?.toLowerCase() === 'true'
  const common = readAddress(reader, endpoint)
  const exported = (signal: 'TRACES' | 'LOGS'): boolean => {
    const own = `OTEL_EXPORTER_OTLP_${signal}_ENDPOINT`
    const isAddressed = readAddress(reader, own) !== undefined || common !== undefined
    const exporter = reader.text(`OTEL_${signal}_EXPORTER`) ?? 'otlp'
    if (exporter !== 'otlp' && exporter !== 'none') {
      reader.report(`OTEL_${signal}_EXPORTER`, `is "${exporter}".`, 'Use otlp or none.')
    }
    return !isOff && isAddressed && exporter === 'otlp'
  }
  const signals = { traces: exported('TRACES'), logs: exported('LOGS') }
  for (const variable of [protocol, 'OTEL_EXPORTER_OTLP_TRACES_PROTOCOL', 'OTEL_EXPORTER_OTLP_LOGS_PROTOCOL']) {
    const used = reader.text(variable)
    if ((signals.traces || signals.logs) && used !== undefined && used !== 'http/protobuf') {
      reader.report(variable, `is "${used}".`, 'Use http/protobuf, which every collector accepts on port 4318.')
    }
  }
  return Object.freeze({ ...signals, sampling: readSampling(reader) })
}

function readSampling(reader: SettingReader): OpenTelemetrySettings['sampling'] {
  const sampler = reader.choice(reader.source('OTEL_TRACES_SAMPLER'), [...ofParents, ...samplers], ofParents[0])
  const ratios = reader.text('OTEL_TRACES_SAMPLER_ARG')
  const ratio = ratios === undefined ? 1 : Number(ratios)
  if (!(ratio >= 0 && ratio <= 1)) {
    reader.report('OTEL_TRACES_SAMPLER_ARG', `is "${ratios}".`, 'Use a share of the traces from 0 to 1, such as 0.05.')
  }
  const share = sampler.endsWith('always_off') ? 0 : sampler.endsWith('always_on') ? 1 : ratio
  return Object.freeze({ ratio: share, byParent: sampler.startsWith('parentbased') })
}

function readAddress(reader: SettingReader, variable: string): string | undefined {
  const text = reader.text(variable)
  if (text === undefined) return undefined
  if (URL.canParse(text) && /^https?:$/.test(new URL(text).protocol)) return text
  reader.report(variable, 'is not an http or https address.', 'Use an address such as http://127.0.0.1:4318')
  return undefined
}
