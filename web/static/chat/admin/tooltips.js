// Django's lists with a filter (groups, permissions) name a <span> with aria-label, which counts only with a role.
addEventListener("load", () => {
  for (const tooltip of document.querySelectorAll(".help-tooltip[aria-label]")) tooltip.setAttribute("role", "img");
});
