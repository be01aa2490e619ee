import { useMemo } from 'react'
import { encode } from 'uqr'

/** The empty margin that ISO/IEC 18004 §9.1 requires, in modules. */
const quietZone = 4

interface QrCodeProps {
  /** At most 2,331 bytes in UTF-8. */
  value: string
  /** The content, for screen readers. */
  label: string
  /** Any CSS length. */
  size: string
}

/** Shows a text as a QR code with 15 % error correction. It is black on white in every colour scheme, so that cameras read it. */
export function QrCode({ value, label, size }: QrCodeProps) {
  const { side, path } = useMemo(() => modulesOf(value), [value])
  return (
    <svg
      role="img"
      aria-label={label}
      viewBox={`0 0 ${side} ${side}`}
      shapeRendering="crispEdges"
      style={{ width: size, maxWidth: '100%', flex: 'none', printColorAdjust: 'exact', forcedColorAdjust: 'none' }}
    >
      <rect width={side} height={side} fill="white" />
      <path d={path} fill="black" />
    </svg>
  )
}

function modulesOf(value: string): { side: number; path: string } {
  const { data, size } = encode(value, { ecc: 'M', border: quietZone })
  const dark = data.flatMap((row, y) => row.flatMap((isDark, x) => (isDark ? [`M${x} ${y}h1v1h-1z`] : [])))
  return { side: size, path: dark.join('') }
}
