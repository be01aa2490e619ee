import { BaseEdge, type EdgeProps } from '@xyflow/react'

/** Draws a line between two records of one column: out at the right of one, and back in at the right of the other. */
export function BesideEdge({ id, sourceX, sourceY, targetX, targetY, markerStart, markerEnd }: EdgeProps) {
  // The distance determines the width, so that lines to one record stay apart.
  const out = 20 + Math.min(50, Math.abs(targetY - sourceY) / 8)
  const path = `M${sourceX},${sourceY} C${sourceX + out},${sourceY} ${targetX + out},${targetY} ${targetX},${targetY}`
  return <BaseEdge id={id} path={path} {...(markerStart && { markerStart })} {...(markerEnd && { markerEnd })} />
}
