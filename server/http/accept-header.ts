/**
 * Returns the media types that an Accept header names, in lower case, with their weights from 0 to 1 (RFC 9110, section
 * 12.5.1). A type of weight 0 is not acceptable, so it is omitted.
 */
export function acceptedTypes(accept: string | undefined): Map<string, number> {
  const weights = new Map<string, number>()
  for (const range of (accept ?? '').toLowerCase().split(',')) {
    const [type = '', ...parameters] = range.split(';').map((part) => part.trim())
    const written = parameters.find((parameter) => parameter.startsWith('q='))?.slice(2)
    const weight = written === undefined ? 1 : Number(written) || 0
    if (weight > 0) weights.set(type, Math.max(weight, weights.get(type) ?? 0))
  }
  return weights
}
