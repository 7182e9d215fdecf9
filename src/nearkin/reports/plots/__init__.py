"""Charts as SVG, drawn without a library: scales, axes, marks."""
