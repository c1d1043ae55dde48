"""The admin of knowledge bases: members and their changes, documents, and a form to try a search with all rankings."""

from typing import Any, Final

from django.contrib import admin
from django.core.exceptions import PermissionDenied
from django.db.models import Count, QuerySet
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import path
from django.utils.translation import gettext_lazy as _

from knowledge.models import File, KnowledgeBase, KnowledgeBaseMember, MembershipChange
from knowledge.models.knowledge_base import CONTENTS_PERMISSION
from knowledge.search.hybrid_search import search_files
from web.admin.held_files import aggregate_held, load_held_files
from web.admin.read_only import ReadOnlyAdmin
from web.admin.search import SearchAdmin

# Displayed changes on the page of the base, the newest ones; their list has all.
SHOWN_CHANGES: Final = 50
# Displayed chunks of a tried search in each ranking.
SHOWN_HITS: Final = 10
# Chunks of the fused ranking, from which the other rankings are derived: all that both found (chunk_search.DEPTH each).
FUSED_HITS: Final = 120
MAX_QUERY_CHARACTERS: Final = 1_000
# Columns that restricted members must not see, and staff only with the permission.
CONTENTS: Final = frozenset({"summary", "topics"})


@admin.register(KnowledgeBase)
class KnowledgeBaseAdmin(SearchAdmin[KnowledgeBase], ReadOnlyAdmin[KnowledgeBase]):
    list_display = ("short_id", "name", "owner", "documents", "members", "created_at", "updated_at")
    list_select_related = ("owner",)
    list_filter = ("created_at", "updated_at")
    ordering = ("-updated_at", "-id")
    owner_field = "owner"
    text_fields = ("name",)
    related_ids = ((File, "knowledge_base"),)
    search_help_text = _("A user's name, words of a name, the id of a knowledge base or of a document in it.")

    def get_urls(self) -> list[Any]:
        view = self.admin_site.admin_view(self.try_search)
        return [
            path("<path:object_id>/search/", view, name="knowledge_knowledgebase_search"),
            *super().get_urls(),
        ]

    def get_queryset(self, request: HttpRequest) -> QuerySet[KnowledgeBase]:
        """Add the number of documents and of members. They are computed only for the rows of one page."""
        return (
            super()
            .get_queryset(request)
            .annotate(
                document_count=aggregate_held(File, "knowledge_base", Count("pk")),
                member_count=aggregate_held(KnowledgeBaseMember, "knowledge_base", Count("pk")),
            )
        )

    def get_readonly_fields(self, request: HttpRequest, obj: KnowledgeBase | None = None) -> list[str]:
        may_read = request.user.has_perm(CONTENTS_PERMISSION)
        names = super().get_readonly_fields(request, obj)
        return [name for name in names if may_read or name not in CONTENTS]

    def page_context(self, request: HttpRequest, row: KnowledgeBase) -> dict[str, Any]:
        may_read = request.user.has_perm(CONTENTS_PERMISSION)
        lists_documents = may_read and request.user.has_perm("knowledge.view_file")
        return super().page_context(request, row) | {
            "base": row,
            "may_read": may_read,
            "members": row.members.select_related("user"),
            "changes": MembershipChange.objects.filter(knowledge_base=row.pk)[:SHOWN_CHANGES],
            "held_files": load_held_files(row.documents.all()) if lists_documents else None,
        }

    def try_search(self, request: HttpRequest, object_id: str) -> HttpResponse:
        """Show the results of a search in this base alone: by words, by vectors, and fused."""
        base = self.get_object(request, object_id)
        if base is None:
            raise Http404
        if not (self.has_view_permission(request, base) and request.user.has_perm(CONTENTS_PERMISSION)):
            raise PermissionDenied
        query = request.GET.get("q", "")[:MAX_QUERY_CHARACTERS].replace("\x00", "").strip()
        context = {
            "title": _("Try a search"),
            "base": base,
            "query": query,
            "rankings": _rank(base, query) if query else (),
        }
        if query:
            self.log_change(request, base, f"Search tried: {len(query)} characters")
        return render(request, "admin/knowledge/search.html", admin.site.each_context(request) | context)

    @admin.display(description=_("documents"))
    def documents(self, base: Any) -> int:
        return int(base.document_count)

    @admin.display(description=_("members"))
    def members(self, base: Any) -> int:
        return int(base.member_count)


@admin.register(MembershipChange)
class MembershipChangeAdmin(SearchAdmin[MembershipChange], ReadOnlyAdmin[MembershipChange]):
    list_display = ("at", "name", "user", "before", "after", "actor")
    list_filter = ("after", "at")
    ordering = ("-at", "-id")
    text_fields = ("name", "user", "actor")
    related_ids = ((MembershipChange, "pk"),)
    search_help_text = _("Words of a name, the id of a knowledge base.")

    def _find_related(self, pk: Any) -> Any:
        """Find changes by the id of a base. That id is no foreign key: it stays when the base is deleted."""
        return MembershipChange.objects.filter(knowledge_base=pk).values_list("pk", flat=True)


def _rank(base: KnowledgeBase, query: str) -> list[tuple[Any, list[Any]]]:
    """Return the name of each ranking and its first hits."""
    fused = search_files(File.objects.filter(knowledge_base=base), query, FUSED_HITS)
    by_words = sorted((hit for hit in fused if hit.by_words), key=lambda hit: hit.by_words or 0)
    by_vector = sorted((hit for hit in fused if hit.by_vector), key=lambda hit: hit.by_vector or 0)
    rankings = ((_("Fused"), fused), (_("By words"), by_words), (_("By vectors"), by_vector))
    return [(name, hits[:SHOWN_HITS]) for name, hits in rankings]
