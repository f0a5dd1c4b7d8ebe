import a_module_that_is_nowhere

softmax = a_module_that_is_nowhere.softmax
