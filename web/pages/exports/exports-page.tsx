import { PageHeader } from '../../ui/page-header.tsx'

export default function Page() {
  return <PageHeader title="exports" />
}
