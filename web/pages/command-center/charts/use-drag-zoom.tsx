import { useState } from 'react'
import { ReferenceArea } from 'recharts'
import type { Span } from '../ranges.ts'
import type { Slot } from './slots.ts'
import { zoomSpan } from './zoom.ts'

interface Pointed {
  activeLabel?: string | number | undefined
}

/**
 * Selects a range by dragging over a chart. The calendar of the page does the same by keyboard.
 *
 * @param end of the chart's range
 * @returns handlers for the chart, and its child that marks the selection
 */
export function useDragZoom(
  points: readonly Pick<Slot, 'start' | 'label'>[],
  end: number,
  onZoom?: (span: Span) => void,
) {
  const [drag, setDrag] = useState<{ from: string; to: string }>()
  if (!onZoom) return { handlers: {}, selection: undefined }
  const at = ({ activeLabel }: Pointed) => (activeLabel === undefined ? undefined : String(activeLabel))
  return {
    handlers: {
      style: { cursor: 'crosshair', userSelect: 'none' as const },
      onMouseDown(state: Pointed) {
        const label = at(state)
        setDrag(label === undefined ? undefined : { from: label, to: label })
      },
      onMouseMove(state: Pointed) {
        const label = at(state)
        if (drag && label !== undefined && label !== drag.to) setDrag({ ...drag, to: label })
      },
      onMouseUp() {
        const span = drag && zoomSpan(points, drag.from, drag.to, end)
        setDrag(undefined)
        if (span) onZoom(span)
      },
      onMouseLeave: () => setDrag(undefined),
    },
    selection: drag && drag.from !== drag.to && (
      <ReferenceArea x1={drag.from} x2={drag.to} fill="var(--mantine-primary-color-filled)" fillOpacity={0.15} />
    ),
  }
}
