import { ProblemNotice } from '../../components/problem-notice.tsx'
import { Notice } from '../../ui/notice.tsx'
import { PriceConflict } from './save-prices.ts'

/** Shows why a price was not saved or removed. */
export function PriceProblem({ error, title }: { error: unknown; title: string }) {
  return error instanceof PriceConflict ? (
    <Notice kind="warning" title={title} urgent>
      {error.message}
    </Notice>
  ) : (
    <ProblemNotice error={error} title={title} />
  )
}
